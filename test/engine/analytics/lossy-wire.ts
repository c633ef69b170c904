import { type AddressInfo, connect, createServer, type Server } from "node:net";
import type { Engine } from "../../../src/analytics/engine/engine.ts";
import { LIMIT_MS } from "../../support/wait.ts";

/** A TCP proxy in front of the engine that can lose answers or be away. */
export class Wire {
  /** Answers to inserts that are cut after the engine sent them. */
  loseAnswers = 0;
  lost = 0;
  readonly #engine: Engine;
  #server: Server | undefined;
  port = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async open(): Promise<void> {
    const target = Number(new URL((await this.#engine.address(LIMIT_MS)).url).port);
    this.#server = createServer((client) => {
      const upstream = connect(target, "127.0.0.1");
      let inserting = false;
      client.on("data", (chunk: Buffer) => {
        inserting ||= chunk.includes("INSERT+INTO") || chunk.includes("INSERT%20INTO");
        upstream.write(chunk);
      });
      upstream.on("data", (chunk: Buffer) => {
        if (inserting && this.loseAnswers > 0) {
          this.loseAnswers--;
          this.lost++;
          client.destroy();
          return;
        }
        client.write(chunk);
      });
      for (const [a, b] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        a.on("error", () => b.destroy());
        a.on("close", () => b.destroy());
      }
    });
    await new Promise<void>((resolve) => this.#server?.listen(this.port, "127.0.0.1", resolve));
    this.port = (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server?.close();
  }

  async url(database: string): Promise<string> {
    const { username, password } = await this.#engine.address(LIMIT_MS);
    return `http://${username}:${password}@127.0.0.1:${this.port}/${database}`;
  }
}
