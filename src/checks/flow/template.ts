const placeholder = /\{\{\s*([a-z]\w{0,31})\s*\}\}/gi;

/** The names that a text has as `{{name}}`. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name);
}

/** A text with its `{{name}}` replaced by values, each encoded as its place needs. */
export function filled(
  text: string,
  values: ReadonlyMap<string, string>,
  encode: (value: string) => string = (value) => value,
): string {
  return text.replaceAll(placeholder, (whole, name: string) => {
    const value = values.get(name);
    return value === undefined ? whole : encode(value);
  });
}

/** An address: a value that stands for all of it is taken as it is, others are encoded. */
export function filledUrl(text: string, values: ReadonlyMap<string, string>): string {
  const isWhole = /^\s*\{\{[^{}]*\}\}\s*$/.test(text);
  return isWhole ? filled(text.trim(), values) : filled(text, values, encodeURIComponent);
}

/** A body: values are escaped in JSON and encoded in a form. */
export function filledBody(text: string, values: ReadonlyMap<string, string>, contentType: string): string {
  if (/\bjson\b/i.test(contentType)) return filled(text, values, (value) => JSON.stringify(value).slice(1, -1));
  if (/x-www-form-urlencoded/i.test(contentType)) return filled(text, values, encodeURIComponent);
  return filled(text, values);
}
