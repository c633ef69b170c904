/**
 * The gateway's sweep over its calls, which finds silent upstreams once a second, as beats that a test can wait for: a stream of which
 * nothing is ever answered gets a keep-alive at each. It needs `keep_alive_ms: 1`.
 */
import { until } from "../wait.ts";

export class Beats {
  #count = 0;
  readonly #left = new AbortController();

  /** @param request of a stream to an upstream that is silent for as long as `stop` was not called */
  static async start(url: string, request: RequestInit): Promise<Beats> {
    const beats = new Beats();
    const response = await fetch(url, { ...request, signal: beats.#left.signal });
    void beats.#listen(response);
    return beats;
  }

  async #listen({ body }: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body ?? []) this.#count += decoder.decode(bytes).split("\n\n").length - 1;
    } catch {
      // The test is over.
    }
  }

  /** Resolves after so many more, each of which looked at every call. */
  async more(beats: number): Promise<void> {
    const from = this.#count;
    await until(
      `the sweep has come ${beats} times`,
      () => this.#count,
      (count) => count >= from + beats,
    );
  }

  stop(): void {
    this.#left.abort();
  }
}
