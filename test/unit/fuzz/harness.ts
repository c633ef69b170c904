/**
 * Runs a family of the fuzz: so many rounds, each with a generator of its own, so that any round can be run again alone. A
 * round that throws is a find. Bounded beside that: the time of every round, and in a long run what the heap keeps of all.
 *
 * `WEIR_FUZZ_ROUNDS` sets the rounds of each family; `WEIR_FUZZ_ONLY="<family>:<round>"` runs that one round.
 */
import { expect, test } from "vitest";
import { type Random, seededRandom } from "../../../src/base/clock.ts";
import { heapBytes } from "../../support/heap.ts";
import { processorMs } from "../../support/processor-time.fixtures.ts";
import { type Damage, pick } from "./mutations.ts";

const FEW_ROUNDS = 100;
const ROUNDS = Number(process.env.WEIR_FUZZ_ROUNDS ?? FEW_ROUNDS);
const ONLY = process.env.WEIR_FUZZ_ONLY ?? "";

/** The processor's time for one input. */
const MAX_ROUND_MS = 250;
/** Some inputs are megabytes: as slow as this is slow enough to find what grows with the square. */
const LEAST_BYTES_A_MS = 10_000;
/** What takes longer is run again, and the quickest counts: the first run compiles, and some collect what others left. */
const AGAIN_OVER_MS = 25;
const TRIES = 3;
/** Between the first rounds, which warm up, and the last. */
const MAX_GROWTH_BYTES = 8 * 1024 * 1024;
const MAX_FINDS = 12;
/** For the largest run: a hang ends here, and the runner says in which family. */
const TIMEOUT_MS = 20_000 + ROUNDS * 20;

export class Round {
  readonly random: Random;
  /** What was damaged: shown where the round is a find. */
  input = "";

  constructor(random: Random) {
    this.random = random;
  }

  /** The round's input: one of these texts, which was damaged. @param others whose parts may come into it */
  damaged(damage: Damage, texts: readonly string[], others = texts): string {
    this.input = damage(pick(this.random, texts), pick(this.random, others), this.random);
    return this.input;
  }
}

/** @returns whether the input was taken. @throws where it is a find. */
export type Play = (round: Round) => boolean;

const seedOf = (family: string): number =>
  [...family].reduce((hash, char) => Math.imul(hash ^ char.charCodeAt(0), 0x01000193), 0x811c9dc5);

class Family {
  readonly finds: string[] = [];
  taken = 0;
  slowestMs = 0;
  readonly #name: string;
  readonly #play: Play;

  constructor(name: string, play: Play) {
    this.#name = name;
    this.#play = play;
  }

  run(number: number): void {
    let bestMs = Number.POSITIVE_INFINITY;
    let input = "";
    for (let tries = 0; tries < TRIES && bestMs > AGAIN_OVER_MS; tries++) {
      const round = new Round(seededRandom(seedOf(this.#name) ^ Math.imul(number, 0x9e3779b1)));
      let tookMs = 0;
      try {
        tookMs = processorMs(() => {
          if (this.#play(round) && tries === 0) this.taken++;
        });
      } catch (error) {
        this.#found(
          number,
          error instanceof Error ? (error.stack ?? error.message) : String(error),
          round.input,
        );
        return;
      }
      bestMs = Math.min(bestMs, tookMs);
      input = round.input;
    }
    this.slowestMs = Math.max(this.slowestMs, bestMs);
    if (bestMs > MAX_ROUND_MS + input.length / LEAST_BYTES_A_MS)
      this.#found(number, `took ${bestMs.toFixed(0)} ms`, input);
  }

  #found(number: number, what: string, input: string): void {
    const shown = JSON.stringify(input.length > 1500 ? `${input.slice(0, 1500)}…` : input);
    this.finds.push(`${this.#name}:${number} ${what.split("\n").slice(0, 6).join("\n")}\n  input ${shown}`);
  }
}

/** One test: all rounds of a family. @param least share of the inputs that must be taken, or nothing behind is tried */
export function family(name: string, least: number, play: Play): void {
  const [only, number] = ONLY.split(/:(?=\d+$)/);
  test.skipIf(ONLY !== "" && only !== name)(
    `T12: ${name}`,
    () => {
      const family = new Family(name, play);
      if (ONLY !== "") {
        family.run(Number(number));
        expect(family.finds).toEqual([]);
        return;
      }
      const warm = Math.ceil(ROUNDS / 10);
      let startBytes = 0;
      const isLong = ROUNDS > FEW_ROUNDS;
      for (let round = 0; round < ROUNDS && family.finds.length < MAX_FINDS; round++) {
        if (isLong && round === warm) startBytes = heapBytes();
        family.run(round);
      }
      if (family.finds.length > 0) expect.fail(family.finds.join("\n"));
      if (isLong) {
        const grownBytes = heapBytes() - startBytes;
        const facts = `${ROUNDS} rounds, ${family.taken} taken`;
        const bounds = `slowest ${family.slowestMs.toFixed(1)} ms, heap ${(grownBytes / 1024).toFixed(0)} KB`;
        console.log(`fuzz ${name}: ${facts}, ${bounds}`);
        expect(grownBytes, "what the heap kept").toBeLessThan(MAX_GROWTH_BYTES);
      }
      expect(family.taken, "inputs that were taken").toBeGreaterThan(ROUNDS * least);
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
    TIMEOUT_MS,
  );
}
