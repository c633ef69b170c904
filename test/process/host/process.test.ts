/**
 * The gateway as the process people run: what it prints, when it refuses to start, and how signals end or reload it.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { readConfig } from "../../../src/host/settings/config.ts";
import { type GatewayOptions, removeFolder, sseData, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";
import { again, sooner } from "../../support/pace.ts";
import { MAIN, REPO, smallConfig } from "../../support/process.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";

/** Nothing listens there: without the embedded engine a start is light. */
const NO_ENGINE = { CLICKHOUSE_URL: "http://127.0.0.1:1" };
const folders: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

/** Runs to its end and says how: for starts that must fail. */
function runToEnd(
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const folder = newFolder();
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      ...NO_ENGINE,
      DATA_DIR: join(folder, "data"),
      CONFIG_DIR: smallConfig(),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (d) => (stdout += d));
  child.stderr.on("data", (d) => (stderr += d));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}

describe("a first start, on embedded defaults and the shipped catalog", () => {
  const folder = newFolder();
  const embedded = { folder, env: { SIMULATOR_URL: "", CONFIG_DIR: join(REPO, "config") } };
  let gateway: SpawnedGateway;
  beforeAll(async () => {
    gateway = await spawnGateway(embedded);
  });
  afterAll(() => gateway.stop());

  test("is ready", async () => {
    expect((await gateway.call("GET", "/readyz", { key: null })).status).toBe(200);
  });

  test("prints one short screen: address, key, a call, the documentation", () => {
    const screen = gateway.output();
    expect(screen.trim().split("\n").length).toBeLessThanOrEqual(10);
    const keyFile = join(folder, "data/first-key");
    for (const line of [gateway.url, `$(cat ${keyFile})`, "curl ", `${gateway.url}/docs`, "$25.00"]) {
      expect(screen).toContain(line);
    }
    expect(screen).not.toContain('"level"');
  });

  test("O14: the secret is not printed where standard output is no terminal", () => {
    expect(gateway.output()).not.toContain(gateway.liveKey);
    expect(gateway.output()).not.toContain(gateway.testKey);
  });

  test("the key's file is the owner's alone", () => {
    for (const file of ["first-key", "first-test-key"]) {
      expect(statSync(join(folder, "data", file)).mode & 0o777).toBe(0o600);
    }
  });

  test.skipIf(spawnSync("curl", ["--version"]).status !== 0)(
    "the printed curl works when pasted, streamed and not (skipped without curl)",
    () => {
      const [, command = ""] = /^( *curl [\s\S]*?'\s*)$/m.exec(gateway.output()) ?? [];
      const paste = (text: string) => spawnSync("sh", ["-c", text], { encoding: "utf8" }).stdout;
      const reply = JSON.parse(paste(command));
      expect(reply).toMatchObject({ object: "chat.completion", choices: [{ finish_reason: "stop" }] });
      expect(reply.svc.cost.total_micro_usd).toBeGreaterThan(0);
      const events = sseData(paste(command.replace("{", '{"stream": true, ')));
      expect(events.at(-1)).toBe("[DONE]");
    },
  );

  test("a second process on the same folder is refused with a clear line; the first goes on", async () => {
    const second = await runToEnd({ DATA_DIR: join(folder, "data"), PORT: "0" });
    expect(second.code).toBe(1);
    expect(second.stderr).toBe(
      `${join(folder, "data")} is in use by process ${gateway.pid}; one process a data folder\n`,
    );
    expect((await gateway.chat()).status).toBe(200);
  });

  test("a later start keeps key and balance, and does not print the key again", async () => {
    const balance = await gateway.balance();
    expect(await gateway.kill("SIGTERM")).toBe(0);
    const { liveKey } = gateway;
    gateway = await spawnGateway({ folder, env: { ...embedded.env, ...NO_ENGINE } });
    expect(gateway.liveKey).toBe(liveKey);
    expect(await gateway.balance()).toEqual(balance);
    expect(gateway.output()).toContain("first-key");
    expect(gateway.output()).not.toContain(liveKey);
  });
});

describe("a start that cannot be", () => {
  test.each([
    ["PORT", "eighty"],
    ["PORT", "70000"],
    ["LOG_LEVEL", "loud"],
    ["CLICKHOUSE_URL", "clickhouse"],
    ["CLICKHOUSE_CLUSTER", "a b"],
    ["CLICKHOUSE_CLUSTER", "without_a_url"],
    ["CELL", "a/b"],
    ["DATA_DIR", "/var/lib/{weir}"],
  ])("%s=%s: one line that names the variable", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name}: .+$`));
  });

  test("DATA_DIR may have any name where a server keeps the records", () => {
    const { dataDir } = readConfig({
      DATA_DIR: "/var/lib/{weir}*?",
      CLICKHOUSE_URL: "http://localhost:8123",
    });
    expect(dataDir).toBe("/var/lib/{weir}*?");
  });

  test("and that line is all it says", async () => {
    const { code, stdout, stderr } = await runToEnd({ LOG_LEVEL: "loud" });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^LOG_LEVEL: .+\n$/);
  });

  test("a port in use", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const { code, stdout, stderr } = await runToEnd({ PORT: String(port) });
    server.close();
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      `port ${port} is in use on 127.0.0.1: stop what listens there, or set PORT to another\n`,
    );
  });

  test("a broken settings file: file, line, and the nearest known key", () => {
    const file = join(newFolder(), "weir.yaml");
    writeFileSync(file, "limits:\n  max_body_byte: 5\n");
    const problem = `${file}:2:3 /limits/max_body_byte: unknown key "max_body_byte"; did you mean "max_body_bytes"?`;
    expect(() => readConfig({ CONFIG_DIR: dirname(file) })).toThrow(problem);
  });
});

/** Side by side: most of the time of each is waiting. */
describe.concurrent("signals", () => {
  const start = async (
    folder: string,
    { onTestFinished }: TestContext,
    options: Omit<GatewayOptions, "folder"> = { env: NO_ENGINE },
  ) => {
    const gateway = await spawnGateway({ folder, ...options });
    onTestFinished(() => gateway.stop());
    return gateway;
  };

  /** A stream under way: its first bytes have arrived. */
  async function openStream(to: SpawnedGateway, model: string, content: string) {
    const response = await fetch(`${to.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${to.liveKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model,
        stream: true,
        messages: [{ role: "user", content }],
      }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader.read()).value);
    return {
      id: response.headers.get("x-svc-request-id") ?? "",
      async rest() {
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          text += decoder.decode(part.value);
        }
        return sseData(text);
      },
    };
  }

  /** New connections find nobody. */
  const refused = (url: string) =>
    fetch(`${url}/healthz`, { headers: { connection: "close" } }).then(
      () => false,
      () => true,
    );

  // Ctrl-C under npm comes twice: from the terminal, and from npm.
  test.for<[string, NodeJS.Signals[], Record<string, string>]>([
    ["SIGTERM", ["SIGTERM"], {}],
    // All is kept for an engine that comes later, too.
    ["SIGINT twice in a row", ["SIGINT", "SIGINT"], NO_ENGINE],
  ])(
    "%s drains: streams finish, new calls are refused, all is kept, exit 0",
    async ([, sent, env], context) => {
      const folder = newFolder();
      const upstream = await heldUpstream();
      context.onTestFinished(() => upstream.close());
      const endpoints = [{ provider: "held", baseUrl: upstream.url }];
      const first = await start(folder, context, { endpoints, env });
      const stream = await openStream(first, "test/model", "Hold it");
      const kept = await keptConnection(first.url);
      const exit = Promise.all(sent.map((signal) => first.kill(signal)));
      await until("new connections are refused", () => refused(first.url));
      expect(await kept.post("/v1/chat/completions", first.liveKey)).toMatch(
        / 503 [\s\S]*"code":"shutting_down"/,
      );
      kept.close();
      upstream.release();

      const events = await stream.rest();
      expect(events.at(-1)).toBe("[DONE]");
      const { usage, svc } = events.at(-2) as { usage: object; svc: { cost: { total_micro_usd: number } } };
      expect(usage).toMatchObject({ completion_tokens: 2 });
      expect(new Set(await exit)).toEqual(new Set([0]));
      expect(first.output()).not.toMatch(/"level":[56]0/);

      const second = await testGateway({ folder, endpoints, engine: true });
      context.onTestFinished(() => second.stop());
      await recorded(second);
      const { json: feed } = await second.call("GET", "/v1/requests?status=ok");
      expect(feed.data.map((row: { request_id: string }) => row.request_id)).toEqual([stream.id]);
      const { json: ledger } = await second.call("GET", "/v1/credits/ledger?kind=settle");
      expect(ledger.data).toMatchObject([
        { request_id: stream.id, amount_micro_usd: -svc.cost.total_micro_usd },
      ]);
      expect(feed.data[0].cost_micro).toBe(svc.cost.total_micro_usd);
      expect((await second.balance()).held).toBe(0);
    },
  );

  test("a signal repeated later ends it at once", async (context) => {
    const first = await start(newFolder(), context);
    const stream = await openStream(first, "weir/sim-small", "[[sim tokens=16000 gap_ms=50]]");
    const exit = first.kill("SIGINT");
    const endSignals = again(() => first.process.kill("SIGINT"), 100);
    expect(await sooner(exit, 1_900)).toBe("the rest");
    expect(await exit).toBe(130);
    endSignals();
    await expect(stream.rest()).rejects.toThrow();
  });

  test("SIGHUP with a broken file keeps the last good catalog and logs file and line; a good one is taken", async (context) => {
    const folder = newFolder();
    const running = await start(folder, context);
    const file = join(folder, "config/models/weir.yaml");
    const good = readFileSync(file, "utf8");
    const models = async () => (await running.call("GET", "/v1/models")).text;
    const before = await models();

    writeFileSync(file, good.replace("context: 128000", "contxt: 128000"));
    await running.reload();
    const line = good.split("\n").findIndex((text) => text.includes("context: 128000")) + 1;
    for (const said of [
      `${file}:${line}:`,
      'did you mean \\"context\\"?',
      "the last good catalog stays in force",
    ]) {
      await until(`the log says ${said}`, () => running.output().includes(said));
    }
    expect(await models()).toBe(before);
    expect((await running.chat()).status).toBe(200);

    writeFileSync(file, good.replace("Simulator small", "Simulator renamed"));
    await running.reload();
    await until("the new catalog is in force", async () => (await models()).includes("Simulator renamed"));
  });
});

/** A provider whose streams stop after two tokens until they are let go. */
async function heldUpstream() {
  const held: (() => void)[] = [];
  const event = (fields: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...fields })}\n\n`;
  const delta = (part: object, finish: string | null = null) =>
    event({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
  const server = createHttpServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      delta({ role: "assistant", content: "" }) + delta({ content: "a" }) + delta({ content: "b" }),
    );
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    held.push(() => response.end(`${delta({}, "stop")}${event({ choices: [], usage })}data: [DONE]\n\n`));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    release: () => {
      for (const finish of held.splice(0)) finish();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A connection that was open before the drain began. */
async function keptConnection(url: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (d) => (text += d.toString()));
  socket.on("error", () => {});
  socket.write("GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n");
  await until("the connection is in use", () => text.includes('{"status":"ok"}'));
  return {
    async post(path: string, key: string): Promise<string> {
      const body = JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Late" }] });
      text = "";
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await until("an answer", () => text.includes("}"));
      return text;
    },
    close: () => socket.destroy(),
  };
}
