/** Has vitest run lane by lane: what fails first is what is cheapest to look at, and each lane's processes are its own. */
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ANY_CELL_PROJECT, LANES } from "./lanes.ts";

const NAMES = LANES.map(({ name }) => name);
/** Behind the lane whose parts it needs. */
const placeOf = ({ project }: TestSpecification): number =>
  NAMES.indexOf(project.name === ANY_CELL_PROJECT ? "cells" : project.name) +
  (project.name === ANY_CELL_PROJECT ? 0.5 : 0);
const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;

export class LaneSequencer extends BaseSequencer {
  /** Within a lane as vitest does: what took longest the last time, or the largest file, first. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => groupOf(a) - groupOf(b) || placeOf(a) - placeOf(b));
  }
}
