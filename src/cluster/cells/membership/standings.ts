/** How each cell of the installation stands, as Redis knew it a moment ago: cheap enough to be asked with each read. */
import type { Clock } from "../../../base/clock.ts";
import type { Registered, RegisteredCell } from "./registry.ts";

export interface CellStanding {
  readonly name: string;
  readonly status: RegisteredCell["status"];
  /** Life of its newest process: what an earlier one had begun is over. */
  readonly life: number;
  /** See `RegisteredCell`. */
  readonly retiredLife: number;
  readonly sentLife: number;
  /** Since it stopped in good order, milliseconds; undefined where it did not, or it is not known. */
  readonly leftMs: number | undefined;
  /** See `RegisteredCell`. */
  readonly hasToldCalls: boolean;
}

/** What was heard is passed on for so long. */
const REMEMBERED_MS = 500;

export class Standings {
  readonly #look: () => Promise<Registered>;
  readonly #clock: Clock;
  #known: Promise<readonly CellStanding[]> | undefined;
  #atMs = 0;

  /** @param look as `registeredCells` */
  constructor(look: () => Promise<Registered>, clock: Clock) {
    this.#look = look;
    this.#clock = clock;
  }

  /** All cells that there ever were, this one too. @throws Error of Redis */
  all(): Promise<readonly CellStanding[]> {
    const nowMs = this.#clock.monotonic();
    if (this.#known !== undefined && nowMs - this.#atMs < REMEMBERED_MS) return this.#known;
    const known = this.#look().then(({ cells }) => cells.map(standingOf));
    this.#known = known;
    this.#atMs = nowMs;
    // What failed is not remembered.
    known.catch(() => {
      if (this.#known === known) this.#known = undefined;
    });
    return known;
  }

  /** Undefined: no cell ever had the name. @throws Error of Redis */
  async of(name: string): Promise<CellStanding | undefined> {
    const named = (cells: readonly CellStanding[]) => cells.find((cell) => cell.name === name);
    const found = named(await this.all());
    if (found !== undefined) return found;
    // It may have begun since.
    this.#known = undefined;
    return named(await this.all());
  }
}

const standingOf = ({
  cell: name,
  status,
  life,
  retiredLife,
  sentLife,
  leftMs,
  hasToldCalls,
}: RegisteredCell): CellStanding => ({
  name,
  status,
  life,
  retiredLife,
  sentLife,
  leftMs,
  hasToldCalls,
});
