/** Three cells with ClickHouse, asked one by one for what they know of calls. */
import { expect } from "vitest";
import { type FaultProxy, startFaultProxy } from "../../support/cells/fault-proxy.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

interface Read {
  readonly http: number;
  readonly request_id?: string;
  readonly cell?: string;
  readonly incomplete_since?: string;
  readonly error?: { readonly code: string; readonly details?: { readonly incomplete_since?: string } };
  readonly cost_micro?: number;
  readonly available_micro_usd?: number;
  readonly data?: readonly { readonly request_id: string }[];
}

export class RecordCells {
  readonly gateway: TestGateway;
  /** Their addresses. */
  readonly urls: readonly string[];
  /** Between the last cell and Redis. */
  readonly proxy: FaultProxy;

  private constructor(gateway: TestGateway, proxy: FaultProxy) {
    this.gateway = gateway;
    this.urls = gateway.cellUrls ?? [];
    this.proxy = proxy;
  }

  static async open(): Promise<RecordCells> {
    const { promise, resolve } = Promise.withResolvers<FaultProxy>();
    const gateway = await testGateway({
      engine: true,
      cells: 3,
      async between({ url }) {
        const proxy = await startFaultProxy(url);
        resolve(proxy);
        return [url, url, proxy.url];
      },
    });
    return new RecordCells(gateway, await promise);
  }

  headers(key = this.gateway.testKey) {
    return { authorization: `Bearer ${key}` };
  }

  /** A call at one cell. @returns its id */
  async call(cell: string, key?: string): Promise<string> {
    const answer = await fetch(`${cell}/v1/chat/completions`, {
      method: "POST",
      headers: { ...this.headers(key), "content-type": "application/json" },
      body: JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
    await answer.text();
    return answer.headers.get("x-svc-request-id") ?? "";
  }

  async read(cell: string, path: string, key?: string): Promise<Read> {
    const answer = await fetch(`${cell}${path}`, { headers: this.headers(key) });
    return { http: answer.status, ...((await answer.json()) as object) };
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.proxy.close();
  }
}
