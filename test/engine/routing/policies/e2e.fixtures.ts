/** A gateway for the life of policies over HTTP: five endpoints of one model, and what the tests ask of them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { putAnalyticsTables } from "../../../support/analytics-folder.ts";
import { type Answer, type GatewayOptions, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

const OPTIONS: GatewayOptions = {
  engine: true,
  endpoints: [
    { provider: "alpha", price: { input: 1, output: 2 } },
    { provider: "beta", price: { input: 2, output: 4 }, entry: { region: "eu" } },
    { provider: "gamma", price: { input: 3, output: 6 }, entry: { region: "us" } },
    { provider: "broken", price: { input: 4, output: 8 }, instruction: { status: 500 } },
    { provider: "mute", price: { input: 5, output: 10 }, instruction: { fault: "hang" } },
  ],
};
export const DEBUG = { headers: { "x-svc-debug": "1" } };

/** The provider that answered, or the code of the error. */
export const by = ({ json }: Answer): string => json.svc?.provider ?? json.error.code;
export const steered = (route: object) => ({ svc: { route } });
/** A document with these lines under `defaults`. */
export const decided = (...lines: string[]) =>
  ["version: 1", "defaults:", ...lines.map((line) => `  ${line}`)].join("\n");

/** For the top of a test file: one gateway for all of its tests. */
export function policyGateway() {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  putAnalyticsTables(join(folder, "data"));
  let gateway: TestGateway;
  let ids: Record<string, string> = {};

  async function start(): Promise<void> {
    gateway = await testGateway({ ...OPTIONS, folder });
    const { json } = await gateway.call("GET", "/v1/models/test/model/endpoints");
    ids = Object.fromEntries(json.data.map((e: { provider: string; id: string }) => [e.provider, e.id]));
  }
  beforeAll(start);
  afterAll(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const post = (path: string, body: object) => gateway.call("POST", `/v1/policies${path}`, { body });
  const ask = (body: object = {}, options: { key?: string } = {}) =>
    // A small bound on the answer: holds of many calls at once must fit the credit.
    gateway.chat({ model: "test/model", max_tokens: 20, ...body }, { ...DEBUG, ...options });
  return {
    get gateway() {
      return gateway;
    },
    /** Provider → endpoint id. */
    get ids() {
      return ids;
    },
    async restart(): Promise<void> {
      await gateway.stop();
      await start();
    },
    post,
    ask,
    list: async (path: string) => (await gateway.call("GET", `/v1/policies${path}`)).json.data,
    answeredBy: async (body: object = {}, options: { key?: string } = {}) => by(await ask(body, options)),

    /** The record of a call, once it can be read. */
    async recordOf(answer: Answer): Promise<Answer["json"]> {
      const id = answer.headers.get("x-svc-request-id");
      let found: Answer | undefined;
      await until("the record is there", async () => {
        found = await gateway.call("GET", `/v1/requests/${id}`);
        return found.status === 200;
      });
      return found?.json;
    },

    /** Writes a version and puts it in force. */
    async enforce(name: string, yaml: string, scope?: object): Promise<number> {
      let made = await post("", { name, yaml });
      if (made.status === 409) made = await post(`/${name}/versions`, { yaml });
      expect(made.json).toMatchObject({ name, status: "draft", yaml });
      const { version } = made.json;
      const activated = await post(`/${name}/activate`, { version, ...(scope && { scope }) });
      expect(activated.json).toMatchObject({ name, version, status: "active" });
      return version;
    },
  };
}
