/** The clients of docs/long-calls.md, run as they stand there, through a connection that is cut again and again. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsIn, resumed } from "../../support/detached/fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { charges } from "../../support/observations.ts";

const text = readFileSync(join(import.meta.dirname, "../../../docs/long-calls.md"), "utf8");
const examplesIn = (language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, code = ""]) => code,
  );
const exampleIn = (language: string): string => examplesIn(language)[0] ?? "";

const hasPython = (() => {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** Cuts each connection after so many bytes of what the gateway says; the last one is cut no more. */
const CUTS = [0, 150, 1500, 1, 2201, 700, 3000, 1802];
const folder = mkdtempSync(join(tmpdir(), "weir-long-"));
let gateway: TestGateway;
let proxy: Server;
let cuts: number[] = [];

function cutting(client: Socket): void {
  const { hostname, port } = new URL(gateway.url);
  const server = dial(Number(port), hostname);
  let left = cuts.shift() ?? Number.POSITIVE_INFINITY;
  const end = () => {
    client.destroy();
    server.destroy();
  };
  client.on("error", end).on("close", end).pipe(server);
  server.on("error", end).on("close", end);
  server.on("data", (bytes) => {
    client.write(bytes.subarray(0, left));
    left -= bytes.length;
    if (left <= 0) client.end(end);
  });
}

beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [{ provider: "talks", instruction: { tokens: 40, gap_ms: 20 } }],
  });
  proxy = createServer(cutting).listen(0, "127.0.0.1");
  await new Promise((resolve) => proxy.once("listening", resolve));
});
afterAll(async () => {
  proxy?.close();
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What the program prints, an event a line. */
async function printed(program: string, file: string, source: string): Promise<string[]> {
  writeFileSync(join(folder, file), source);
  const { port } = proxy.address() as AddressInfo;
  const env = {
    ...process.env,
    NODE_OPTIONS: "",
    WEIR_URL: `http://127.0.0.1:${port}`,
    WEIR_API_KEY: gateway.liveKey,
  };
  cuts = [...CUTS];
  const { stdout } = await promisify(execFile)(program, [join(folder, file)], { env });
  return stdout.trimEnd().split("\n");
}

async function expectWhole(said: readonly string[]): Promise<void> {
  // All of the cuts were met.
  expect(cuts).toEqual([]);
  const id = /"request_id":"(\w{26})"/.exec(said.join("\n"))?.[1] ?? "";
  const whole = await resumed(gateway, id);
  expect(said).toEqual(eventsIn(whole.text).map((event) => event.slice(event.indexOf("data: ") + 6)));
  expect(said.at(-1)).toBe("[DONE]");
  expect(said).toHaveLength(40 + 4);
  expect((await charges(gateway)).get(id)).toHaveLength(1);
}

const ASKED = { model: "test/model", messages: [{ role: "user", content: "x" }] };

test("in TypeScript", async () => {
  const asked = `for await (const data of events("/v1/chat/completions", ${JSON.stringify(ASKED)})) console.log(data);`;
  await expectWhole(await printed(process.execPath, "client.mts", `${exampleIn("ts")}\n${asked}\n`));
});

test.skipIf(!hasPython)("in Python (needs python3)", async () => {
  const asked = `for data in events("/v1/chat/completions", ${JSON.stringify(ASKED)}):\n    print(data)\n`;
  await expectWhole(await printed("python3", "client.py", `${exampleIn("python")}\n\n${asked}`));
});

// The call has ended before its client has asked again: the answer is given once more, with its length.
test("used as the page says, they print the answer", async () => {
  const [client = "", use = ""] = examplesIn("ts");
  const said = await printed(process.execPath, "used.mts", client + use);
  expect(said.join("\n")).toMatch(/Write a long story.*simulator/);
  if (!hasPython) return;
  const [pythons = "", usedThere = ""] = examplesIn("python");
  expect(await printed("python3", "used.py", pythons + usedThere)).toEqual(said);
});

test("used as the page says, they end with the words of a call's error", async () => {
  const failing = (code: string) =>
    code.replace("Write a long story.", "Write. [[sim tokens=20 fault=error_mid after=5]]");
  for (const [language, program, file] of [
    ["ts", process.execPath, "failed.mts"],
    ["python", "python3", "failed.py"],
  ] as const) {
    if (language === "python" && !hasPython) continue;
    const [client = "", use = ""] = examplesIn(language);
    await expect(printed(program, file, client + failing(use)), language).rejects.toThrow(
      /Error: The provider behind .* failed\./,
    );
  }
});

test("they have forty lines, and a few around them", () => {
  for (const language of ["ts", "python"])
    expect(exampleIn(language).trim().split("\n").length, language).toBeLessThanOrEqual(46);
});
