/** Receivers of webhooks, good ones and each bad kind, and what they get. */
import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { rest } from "../../../support/pace.ts";
import { fault } from "../../../support/webhooks/receiver.ts";
import { CERTIFICATE, KEY } from "./certificate.ts";

/** How many there are; beside them a redirecting and a rebinding one. */
export interface Kinds {
  readonly well: number;
  readonly slow: number;
  readonly dead: number;
  readonly flapping: number;
}

interface Got {
  /** By event: when it came first, and when the event was made. */
  readonly events: Map<string, { readonly atMs: number; readonly madeMs: number }>;
  readonly faults: string[];
  requests: number;
}

const good: RequestListener = (_, response) => void response.writeHead(204).end();
const after =
  (ms: number): RequestListener =>
  (_, response) =>
    void rest(ms).then(() => response.writeHead(204).end());
/** Three seconds well, three seconds not. */
const flapping: RequestListener = (_, response) =>
  void response.writeHead(Math.floor(Date.now() / 3000) % 2 ? 503 : 204).end();

export class Receivers {
  readonly urls: Record<string, string> = {};
  /** By receiver: what each was told signs what it gets. */
  readonly secrets = new Map<string, string>();
  readonly got = new Map<string, Got>();
  /** Connections that reached what is private. */
  intrusions = 0;
  readonly #servers: Server[] = [];

  static async start(kinds: Kinds): Promise<Receivers> {
    const all = new Receivers();
    await all.#start(kinds);
    return all;
  }

  names(kind: string): string[] {
    return [...this.got.keys()].filter((name) => name.startsWith(kind));
  }

  /** Events that the good ones have got: of each, their times by event. */
  wellGot(): readonly Got["events"][] {
    return this.names("well").map((name) => (this.got.get(name) as Got).events);
  }

  close(): void {
    for (const server of this.#servers) server.close();
  }

  async #start(kinds: Kinds): Promise<void> {
    for (let n = 0; n < kinds.well; n++) await this.#add(`well${n}`, good);
    for (let n = 0; n < kinds.slow; n++) await this.#add(`slow${n}`, after(5_000));
    for (let n = 0; n < kinds.flapping; n++) await this.#add(`flapping${n}`, flapping);
    for (let n = 0; n < kinds.dead; n++) {
      const port = await this.#listening(createTcpServer());
      this.#servers.pop()?.close();
      this.urls[`dead${n}`] = `http://127.0.0.1:${port}/dead${n}`;
    }
    const intruder = () =>
      createTcpServer((socket) => {
        this.intrusions++;
        socket.destroy();
      });
    const secretPort = await this.#listening(intruder(), "127.0.0.66");
    await this.#add(
      "redirecting",
      (_, response) => void response.writeHead(307, { location: `http://127.0.0.66:${secretPort}/` }).end(),
    );
    const tls = createTlsServer({ cert: CERTIFICATE, key: KEY }, this.#receiving("rebinding", good));
    const tlsPort = await this.#listening(tls);
    await this.#listening(intruder(), "127.0.0.66", tlsPort);
    this.urls.rebinding = `https://rebind.example.com:${tlsPort}/rebinding`;
  }

  async #add(name: string, answer: RequestListener): Promise<void> {
    const port = await this.#listening(createHttpServer(this.#receiving(name, answer)));
    this.urls[name] = `http://127.0.0.1:${port}/${name}`;
  }

  async #listening<S extends Server>(server: S, host = "127.0.0.1", port = 0): Promise<number> {
    this.#servers.push(server);
    server.listen(port, host);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  /** Keeps what a receiver gets, and then answers. */
  #receiving(name: string, answer: RequestListener): RequestListener {
    const mine: Got = { events: new Map(), faults: [], requests: 0 };
    this.got.set(name, mine);
    return (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const atMs = Date.now();
        const body = Buffer.concat(chunks).toString();
        mine.requests++;
        const headers = request.headers as Record<string, string>;
        const wrong = fault({ headers, body }, this.secrets.get(name) ?? "");
        const event = JSON.parse(body);
        if (wrong !== "" || event.id !== headers["webhook-id"]) mine.faults.push(wrong);
        if (!mine.events.has(event.id))
          mine.events.set(event.id, { atMs, madeMs: Date.parse(event.created_at) });
        answer(request, response);
      });
    };
  }
}
