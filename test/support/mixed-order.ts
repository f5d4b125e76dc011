import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The order of test files: those of projects that run together take turns, in proportion to their number, the longest first. Files of
 * projects that share workers (`isolate: false`) stay together, because a worker begins anew with another project.
 */
export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const placed = [...byProject.values()].flatMap((some) =>
      some.map((file, index) => {
        const { isolate, sequence } = file.project.config;
        return { file, group: sequence.groupOrder, place: isolate ? index / some.length : 0 };
      }),
    );
    return placed.toSorted((a, b) => a.group - b.group || a.place - b.place).map(({ file }) => file);
  }
}
