/** What tests of the whole gateway look at from outside: metrics, records, the ledger, and raw streams. */
import type { TestGateway } from "./gateway.ts";
import { until } from "./wait.ts";

type Asked = Pick<TestGateway, "call" | "liveKey" | "url">;

/** A sample of `GET /metrics` without labels. */
export async function metric(gateway: Asked, name: string): Promise<number> {
  const { text } = await gateway.call("GET", "/metrics", { key: null });
  const line = text.split("\n").find((l) => l.startsWith(`${name} `));
  if (line === undefined) throw new Error(`there is no metric ${name}`);
  return Number(line.slice(line.lastIndexOf(" ") + 1));
}

const TAKEN = [
  "weir_calls_live",
  "weir_calls_draining",
  "weir_holds_open",
  "weir_held_micro_usd",
  "weir_budget_holds_open",
  "weir_slots_taken",
  "weir_media_bytes",
];

/** Resolves once no call runs and nothing is held or taken; fails naming what still is. */
export async function atRest(gateway: Asked): Promise<void> {
  const taken = async () => {
    const { text } = await gateway.call("GET", "/metrics", { key: null });
    return text
      .split("\n")
      .filter((l) => TAKEN.some((name) => l.startsWith(`${name} `)) && !l.endsWith(" 0"));
  };
  await until("nothing is taken", taken, ({ length }) => length === 0);
}

/** Resolves once the record of every call so far is a row in ClickHouse, which answers. */
export async function recorded(gateway: Asked): Promise<void> {
  const look = async () => ({
    waiting: await metric(gateway, "weir_outbox_rows"),
    status: (await gateway.call("GET", "/v1/requests?limit=1")).status,
  });
  await until(
    "every record is in ClickHouse",
    look,
    ({ waiting, status }) => waiting === 0 && status === 200,
  );
}

/** The request record, as `GET /v1/requests/{id}` shows it. */
export async function recordOf(gateway: Asked, requestId: string) {
  const read = () => gateway.call("GET", `/v1/requests/${requestId}`);
  const answer = await until(`there is a record of ${requestId}`, read, ({ status }) => status === 200);
  return answer.json;
}

/** `outcome http_status error_class` of each attempt of a record. */
export const attemptsOf = (record: {
  attempt_rows: readonly { outcome: string; http_status: number; error_class: string }[];
}): string[] => record.attempt_rows.map((a) => `${a.outcome} ${a.http_status} ${a.error_class}`.trim());

/** Settle entries of the ledger by request id: how often and how much (micro-USD, negative). */
export async function charges(gateway: Asked): Promise<Map<string, number[]>> {
  const byRequest = new Map<string, number[]>();
  let cursor = "";
  do {
    const path = `/v1/credits/ledger?kind=settle&limit=500&cursor=${encodeURIComponent(cursor)}`;
    const read = () => gateway.call("GET", path);
    // A cell that is late says so.
    const { json } = await until(
      "the page is whole",
      read,
      (page) => page.json.incomplete_since === undefined,
    );
    for (const entry of json.data) {
      byRequest.set(entry.request_id, [...(byRequest.get(entry.request_id) ?? []), entry.amount_micro_usd]);
    }
    cursor = json.next_cursor;
  } while (cursor !== "");
  return byRequest;
}

/** Starts a call and hands over the response before its body: for streams that are left or read slowly. */
export const start = (
  gateway: Asked,
  body: object,
  options: { signal?: AbortSignal; key?: string; headers?: Record<string, string> } = {},
): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${options.key ?? gateway.liveKey}`,
      "content-type": "application/json",
      ...options.headers,
    },
    body: JSON.stringify({ model: "test/model", messages: [{ role: "user", content: "Hello" }], ...body }),
    ...(options.signal && { signal: options.signal }),
  });

export const requestIdOf = (response: { headers: Headers }): string =>
  response.headers.get("x-svc-request-id") ?? "";
