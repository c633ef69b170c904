/** Signals between cells of one test: each is heard at once, or lost where the test says so. */
import type { Signals } from "../../../src/analytics/requests/other-cells.ts";

/** Cells that hear each other at once. */
export class Network {
  readonly #topics = new Map<string, Map<string, (content: unknown, from: string) => unknown>>();
  /** Messages that are lost. */
  isLost: (topic: string) => boolean = () => false;

  of(cell: string): Signals {
    const mine = new Map<string, (content: unknown, from: string) => unknown>();
    this.#topics.set(cell, mine);
    const others = () => [...this.#topics].filter(([name]) => name !== cell);
    const send = (to: typeof mine | undefined, topic: string, content: unknown) => {
      if (!this.isLost(topic)) return to?.get(topic)?.(structuredClone(content), cell);
    };
    return {
      tell: (topic, content) => others().every(([, to]) => send(to, topic, content) !== null),
      tellOne: (name, topic, content) => send(this.#topics.get(name), topic, content) !== null,
      on: (topic, heard) => void mine.set(topic, heard),
      answers: (topic, answer) => void mine.set(topic, answer),
      async ask(topic, content) {
        const answers = await Promise.all(others().map(([, to]) => send(to, topic, content)));
        return answers.every((isGood) => isGood === true);
      },
      onListening() {},
    };
  }
}
