import { readFile } from 'node:fs/promises';
import { geoCentroid, geoNaturalEarth1, geoPath } from 'd3-geo';
import type { Feature, MultiPolygon, Polygon } from 'geojson';
import { createRequire } from 'node:module';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { z } from 'zod';
import { type DrawnWorld, worldSize } from './drawn-world.ts';

type Area = Feature<Polygon | MultiPolygon>;

// The shapes of the package's own files, as far as they are used here.
const Atlas = z.custom<Topology<{ countries: GeometryCollection; land: GeometryCollection }>>(
  (value) => typeof value === 'object' && value !== null && 'objects' in value,
);

const Codes = z.array(z.tuple([z.string(), z.string(), z.string()]).rest(z.string()));

/** Draws the world from the atlas that is a package, which takes a tenth of a second: what ships has it drawn. */
export async function drawWorld(): Promise<DrawnWorld> {
  const [atlas, codes] = await Promise.all([
    readPackaged('world-atlas/countries-110m.json', Atlas),
    // Not the package itself: it would load the names of all countries in all languages.
    readPackaged('i18n-iso-countries/codes.json', Codes),
  ]);
  const countries = feature(atlas, atlas.objects.countries).features.flatMap((one) => (isArea(one) ? [one] : []));
  const shapes = {
    type: 'FeatureCollection' as const,
    features: countries.filter(({ id }) => id !== antarctica),
  };
  const projection = geoNaturalEarth1().fitExtent(
    [
      [4, 4],
      [worldSize.width - 4, worldSize.height - 4],
    ],
    shapes,
  );
  const path = geoPath(projection).digits(1)(shapes) ?? '';
  const middles = new Map(
    countries.map((country) => [String(country.id), projection(geoCentroid(largestPart(country)))]),
  );
  const places = codes.flatMap(([letters, , number]) => {
    const middle = middles.get(number) ?? null;
    return middle === null ? [] : [[letters.toLowerCase(), [Math.round(middle[0]), Math.round(middle[1])]] as const];
  });

  return {
    image:
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${worldSize.width} ${worldSize.height}">` +
      `<path fill="#7d8894" fill-opacity=".28" stroke="#7d8894" stroke-opacity=".25" stroke-width=".5" d="${path}"/></svg>`,
    places: Object.fromEntries(places),
  };
}

const packaged = createRequire(import.meta.url);

async function readPackaged<Shape extends z.ZodType>(file: string, shape: Shape): Promise<z.output<Shape>> {
  return shape.parse(JSON.parse(await readFile(packaged.resolve(file), 'utf8')));
}

const antarctica = '010';

function isArea(one: Feature): one is Area {
  return one.geometry?.type === 'Polygon' || one.geometry?.type === 'MultiPolygon';
}

// The middle of all that belongs to a country may be in the sea, or in another country.
function largestPart({ geometry }: Area): Polygon {
  if (geometry.type === 'Polygon') return geometry;
  const parts = geometry.coordinates.map((coordinates): Polygon => ({ type: 'Polygon', coordinates }));
  const points = ({ coordinates }: Polygon) => coordinates[0]?.length ?? 0;
  return parts.reduce((largest, part) => (points(part) > points(largest) ? part : largest));
}
