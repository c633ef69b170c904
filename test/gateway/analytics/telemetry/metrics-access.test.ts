/** Who may read `/metrics`, which tells of money. */
import { networkInterfaces } from "node:os";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../../src/host/settings/config.ts";
import { FORWARDING } from "../../../support/forwarding-headers.ts";
import { closedPort, type GatewayOptions, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { httpCall } from "../../../support/http-client.ts";

const TOKEN = "scrape-token-of-forty-characters-0123456";

async function started(env: GatewayOptions["env"] = {}): Promise<TestGateway> {
  const gateway = await testGateway({ engine: false, cells: 0, env });
  onTestFinished(() => gateway.stop());
  return gateway;
}

async function asked(url: string, headers: Record<string, string> = {}) {
  const answer = await httpCall("GET", url, { headers });
  if (answer === undefined) throw new Error("no answer");
  const isTold = /^weir_/m.test(answer.text);
  return { status: answer.status, isTold, headers: answer.headers, text: answer.text };
}

/** An address of this machine that is not loopback. */
const outer = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

describe("S12: without a token metrics are told", () => {
  test("to this machine, as Prometheus asks", async () => {
    const { url } = await started();
    const headers = {
      "user-agent": "Prometheus/3.0.0",
      accept: "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
      "x-prometheus-scrape-timeout-seconds": "10",
    };
    expect(await asked(`${url}/metrics`, headers)).toMatchObject({ status: 200, isTold: true });
  });

  test("to nobody behind a proxy, and to no page of another name", async () => {
    const { url } = await started();
    for (const name of FORWARDING)
      expect([name, await asked(`${url}/metrics`, { [name]: "1.1 proxy" })]).toMatchObject([
        name,
        { status: 403, isTold: false },
      ]);
    for (const host of ["gateway.example.com", "127.0.0.1.evil.example"])
      expect(await asked(`${url}/metrics`, { host })).toMatchObject({ status: 403, isTold: false });
  });

  test("not to a proxy that is trusted, for the client that it names", async () => {
    const settings = { trusted_proxies: ["127.0.0.0/8"] };
    const gateway = await testGateway({ engine: false, cells: 0, settings });
    onTestFinished(() => gateway.stop());
    const headers = { "x-forwarded-for": "127.0.0.1" };
    expect(await asked(`${gateway.url}/metrics`, headers)).toMatchObject({ status: 403, isTold: false });
  });

  test.skipIf(outer === undefined)("not to another address, though its name is this machine's", async () => {
    const { url } = await started({ HOST: "0.0.0.0", PUBLIC_URL: "https://gateway.example.com" });
    const { port } = new URL(url);
    const to = `http://${outer}:${port}/metrics`;
    const answer = await asked(to, { host: `localhost:${port}` });
    expect(answer).toMatchObject({ status: 403, isTold: false });
    expect(answer.text).toContain("METRICS_TOKEN");
    expect(await asked(`http://127.0.0.1:${port}/metrics`)).toMatchObject({ status: 200, isTold: true });
  });
});

describe("S12: with METRICS_TOKEN", () => {
  test("they are told to whoever has it, from anywhere, and to nobody else", async () => {
    const { url } = await started({ METRICS_TOKEN: TOKEN });
    const at = `${url}/metrics`;
    const authorization = `Bearer ${TOKEN}`;
    expect(await asked(at, { authorization })).toMatchObject({ status: 200, isTold: true });
    expect(await asked(at, { authorization, "x-forwarded-for": "203.0.113.7" })).toMatchObject({
      status: 200,
    });
    expect(await asked(at, { authorization: `bearer ${TOKEN}` })).toMatchObject({ status: 200 });
    const wrong = ["", "Bearer", `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`];
    for (const value of [...wrong, `Bearer ${TOKEN.toUpperCase()}`, `Bearer x ${TOKEN}`]) {
      const answer = await asked(at, value === "" ? {} : { authorization: value });
      expect([value, answer]).toMatchObject([value, { status: 401, isTold: false }]);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.text).not.toContain(TOKEN);
    }
  });

  test("a key of the API is no token", async () => {
    const gateway = await started({ METRICS_TOKEN: TOKEN });
    const authorization = `Bearer ${gateway.liveKey}`;
    expect(await asked(`${gateway.url}/metrics`, { authorization })).toMatchObject({ status: 401 });
  });
});

describe("S12: with METRICS_PORT", () => {
  test("they have that port and no other; it has nothing else", async () => {
    const port = await closedPort();
    const { url } = await started({ METRICS_PORT: String(port) });
    const own = `http://127.0.0.1:${port}`;
    expect(await asked(`${own}/metrics`)).toMatchObject({ status: 200, isTold: true });
    expect(await asked(`${url}/metrics`)).toMatchObject({ status: 404, isTold: false });
    for (const path of ["/", "/v1/models", "/readyz", "/openapi.json", "/dev/mail"])
      expect(await asked(`${own}${path}`)).toMatchObject({ status: 404 });
    // Rebinding of DNS: a page of another name asks this machine.
    expect(await asked(`${own}/metrics`, { host: "evil.example" })).toMatchObject({
      status: 403,
      isTold: false,
    });
  });

  test("no webhook reaches it", async () => {
    const port = await closedPort();
    const gateway = await started({ METRICS_PORT: String(port) });
    const body = { url: `http://127.0.0.1:${port}/metrics` };
    expect((await gateway.call("POST", "/v1/webhooks", { body })).status).toBe(400);
  });

  test.skipIf(outer === undefined)(
    "METRICS_HOST opens it to others, and a token is asked for there, too",
    async () => {
      const port = await closedPort();
      const at = `http://${outer}:${port}/metrics`;
      const open = { METRICS_PORT: String(port), METRICS_HOST: "0.0.0.0" };
      const first = await testGateway({ engine: false, cells: 0, env: open });
      expect(await asked(at)).toMatchObject({ status: 200, isTold: true });
      await first.stop();
      await started({ ...open, METRICS_TOKEN: TOKEN });
      expect(await asked(at)).toMatchObject({ status: 401, isTold: false });
      expect(await asked(at, { authorization: `Bearer ${TOKEN}` })).toMatchObject({
        status: 200,
        isTold: true,
      });
    },
  );

  test("one that is taken, or that is PORT, refuses the start by its name", async () => {
    const taken = await started();
    const { port } = new URL(taken.url);
    const refused = testGateway({ engine: false, cells: 0, env: { METRICS_PORT: port } });
    await expect(refused).rejects.toThrow("set METRICS_PORT to another");
    expect(() => readConfig({ PORT: "9464", METRICS_PORT: "9464" })).toThrow("METRICS_PORT: is PORT");
    expect(() => readConfig({ METRICS_TOKEN: "two words" })).toThrow(/^METRICS_TOKEN: must be printable/);
    expect(() => readConfig({ METRICS_PORT: "65536" })).toThrow("METRICS_PORT");
  });
});

describe("S12: what is told without any credential", () => {
  test.each(["/healthz", "/readyz", "/", "/openapi.json", "/docs"])(
    "%s has nothing of money or secrets",
    async (path) => {
      const gateway = await started({ OPENAI_API_KEY: "sk-planted-credential", METRICS_TOKEN: TOKEN });
      const { text } = await asked(`${gateway.url}${path}`, { "x-forwarded-for": "203.0.113.7" });
      for (const secret of ["sk-planted", TOKEN, gateway.liveKey, gateway.folder, "25000000", "127.0.0.1:1"])
        expect(text).not.toContain(secret);
    },
  );

  test("/readyz has a word for each part", async () => {
    const gateway = await started();
    const { text } = await asked(`${gateway.url}/readyz`);
    expect(JSON.parse(text)).toEqual({
      status: "ready",
      parts: { store: true, analytics: expect.any(Boolean), serving: true },
    });
  });
});
