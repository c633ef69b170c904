/** A client of `GET /v1/live`, as a page reads it: by fetch, event by event. */

/** What the data of the events has; each event has some of it. */
export interface LiveData {
  readonly position: string;
  readonly kinds: readonly string[];
  readonly count: number;
  readonly calls: readonly { readonly request_id: string }[];
  readonly request_id: string;
  readonly project_id: string;
  readonly key_id: string;
  readonly provider: string;
  readonly endpoint_id: string;
  readonly started_at: string;
  readonly ts: string;
  readonly ttft_ms: number;
  readonly cost_micro: number;
  readonly balance_micro_usd: number;
  readonly held_micro_usd: number;
  readonly available_micro_usd: number;
  readonly spent_today_micro_usd: number;
  readonly spent_month_micro_usd: number;
  readonly missed: number | null;
  readonly org_id: string;
  readonly data: { readonly id: string };
  readonly error: { readonly code: string };
}

export interface LiveEvent {
  readonly event: string;
  readonly id: string;
  readonly data: LiveData;
}

export class LiveClient {
  readonly events: LiveEvent[] = [];
  status = 0;
  isOver = false;
  /** Pieces that came: writes of the gateway, or parts of them. */
  pieces = 0;
  #text = "";
  readonly #cut = new AbortController();

  /** @param headers the credential, and `svc-org` or `last-event-id`; @param query without its question mark */
  static async open(url: string, query: string, headers: Record<string, string>): Promise<LiveClient> {
    const client = new LiveClient();
    const answer = await fetch(`${url}/v1/live?${query}`, { headers, signal: client.#cut.signal });
    client.status = answer.status;
    if (answer.status === 200) void client.#read(answer);
    else client.#take(`data: ${await answer.text()}\n\n`);
    return client;
  }

  async #read(answer: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of answer.body ?? []) {
        this.pieces += 1;
        this.#take(decoder.decode(chunk, { stream: true }));
      }
    } catch {
      // Cut.
    }
    this.isOver = true;
  }

  #take(text: string): void {
    const parts = (this.#text + text).split("\n\n");
    this.#text = parts.pop() ?? "";
    for (const part of parts) {
      const fields = new Map(part.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
      const data = fields.get("data");
      if (data === undefined) continue;
      this.events.push({
        event: fields.get("event") ?? "",
        id: fields.get("id") ?? "",
        data: JSON.parse(data),
      });
    }
  }

  of(name: string): LiveEvent[] {
    return this.events.filter(({ event }) => event === name);
  }

  /** What the newest credit event says. */
  get credit(): LiveData {
    const last = this.of("credit").at(-1);
    if (last === undefined) throw new Error("no credit was told yet");
    return last.data;
  }

  /** Names of the events of a call, in the order in which they came. */
  callNames(requestId: string): string[] {
    return this.events
      .filter(({ event, data }) => event.startsWith("call.") && data.request_id === requestId)
      .map(({ event }) => event);
  }

  /** Id of the last event that has one: where the client is. */
  get position(): string {
    return this.events.findLast(({ id }) => id !== "")?.id ?? "";
  }

  leave(): void {
    this.#cut.abort();
  }
}
