/** `weir models import`: what it writes of both formats, what it leaves out, and what it never touches. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommandLine } from "../../../src/host/commands/command-line.ts";
import { readPages } from "../../../src/host/commands/import-source.ts";
import { dev, modelsDev, OPENAI, PROVIDERS, routed } from "./import.fixtures.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "weir-import-"));
  mkdirSync(join(dir, "models"));
  writeFileSync(join(dir, "providers.yaml"), PROVIDERS);
  writeFileSync(join(dir, "models/openai.yaml"), OPENAI);
});
afterEach(() => rmSync(dir, { recursive: true }));

async function run(source: object | string, ...words: string[]) {
  const file = join(dir, "source.json");
  if (typeof source !== "string") writeFileSync(file, JSON.stringify(source));
  const said = { out: "", err: "" };
  const code = await runCommandLine(
    ["models", "import", typeof source === "string" ? source : file, ...words],
    {
      env: { CONFIG_DIR: dir, DATA_DIR: join(dir, "data") },
      isTerminal: false,
      out: (text) => (said.out += text),
      err: (text) => (said.err += text),
    },
  );
  return { code, ...said };
}
const file = (name: string) => readFileSync(join(dir, "models", name), "utf8");
const names = () => readdirSync(join(dir, "models"));

describe("models.dev", () => {
  const SOURCE = modelsDev({
    acme: [
      dev("zai-org/GLM-9", {
        structured_output: true,
        modalities: { input: ["text", "image", "audio"], output: ["text"] },
        cost: {
          input: 0.1 + 0.2,
          output: 1e-7,
          cache_read: 0.075,
          cache_write: 0,
          input_audio: 5,
          tiers: [{ tier: { size: 800 } }],
        },
      }),
      dev("zai-org/glm-embed", { cost: { input: 0.02, output: 0 }, limit: { context: 512, output: 0 } }),
      dev("zai-org/free", { cost: { input: 0, output: 0 } }),
      dev("zai-org/priceless", { cost: undefined }),
      dev("nameless"),
      dev("zai-org/painter", { modalities: { input: ["text"], output: ["image"] } }),
      dev("zai-org/old", { status: "deprecated" }),
      { id: "zai-org/broken", limit: "much" },
    ],
    elsewhere: [dev("x")],
  });

  test("writes a new file with exact decimals, within limits of one price, and says what it left out", async () => {
    const { code, out, err } = await run(SOURCE);
    expect([code, err, names()]).toEqual([0, "", ["openai.yaml", "z-ai.yaml"]]);
    const [head = "", ...lines] = file("z-ai.yaml").split("\n");
    expect(head).toMatch(/^# Imported from source\.json on 20\d\d-\d\d-\d\d\.$/);
    expect(
      lines.join("\n"),
    ).toBe(`# Prices: USD per million tokens, as listed there; check before relying on one.

vendor: z-ai

models:
  - id: z-ai/glm-9
    name: "The zai-org/GLM-9"
    released: 2026-05-04
    modalities: { in: [text, image], out: [text] }
    context: 800
    max_output: 100
    capabilities: [tools, json_schema, cache]
    endpoints:
      - provider: acme
        upstream_model: zai-org/GLM-9
        # Takes 1000 tokens, at another price above 800: bounded to one price.
        region: global
        price: { input: 0.3, output: 0.0000001, cache_read: 0.075 }

  - id: z-ai/glm-embed
    name: "The zai-org/glm-embed"
    task: embed
    released: 2026-05-04
    modalities: { in: [text], out: [] }
    context: 512
    endpoints:
      - provider: acme
        upstream_model: zai-org/glm-embed
        region: global
        price: { input: 0.02 }
`);
    for (const line of [
      "providers.yaml does not name the provider:\n  elsewhere",
      "it has no input price:\n  acme: zai-org/free, acme: zai-org/priceless",
      "its name does not say who made it: add it by hand once, then --update keeps it:\n  acme: nameless",
      "it answers in image:\n  acme: zai-org/painter",
      "the source calls it deprecated:\n  acme: zai-org/old",
      "it lacks fields, or they have other types:\n  acme: zai-org/broken",
      "2 endpoints added, 0 changed, 7 entries left out\n",
    ])
      expect(out).toContain(line);
  });

  test("writes nothing with --dry-run, and nothing twice", async () => {
    const dry = await run(SOURCE, "--dry-run");
    expect([dry.code, names()]).toEqual([0, ["openai.yaml"]]);
    expect(dry.out).toContain("models/z-ai.yaml (new)\n  + z-ai/glm-9 at acme: input 0.3, output 0.0000001");
    await run(SOURCE);
    const before = file("z-ai.yaml");
    expect((await run(SOURCE, "--update")).out).toContain("0 endpoints added, 0 changed");
    expect(file("z-ai.yaml")).toBe(before);
  });

  test("changes existing files with --update only, and of these only what differs", async () => {
    const source = modelsDev({
      openai: [
        dev("one", {
          cost: { input: 2.5, output: 12, cache_read: 0.25 },
          limit: { context: 2000, output: 100 },
        }),
        dev("two", {
          tool_call: false,
          cost: { input: 0.9, output: 2 },
          limit: { context: 4000, output: 200 },
        }),
        dev("three"),
      ],
      acme: [dev("openai/one", { cost: { input: 3, output: 12 }, limit: { context: 500, output: 100 } })],
    });
    const without = await run(source);
    expect(file("openai.yaml")).toBe(OPENAI);
    expect(without.out).toContain(
      "Existing files, which --update changes:\n  ~ openai/one at openai: output 10 → 12",
    );
    const { out } = await run(source, "--update");
    expect(out).toContain("~ openai/two at openai: input 1 → 0.9, context 1000 → 4000, max_output 100 → 200");
    expect(out).toContain("2 endpoints added, 2 changed");
    expect(file("openai.yaml")).toBe(`# Kept by hand.

vendor: openai
models:
  # The first one.
  - id: openai/one
    name: One
    modalities: { in: [text],   out: [text] }
    context: 2000
    max_output: 100
    capabilities: [tools, parallel_tools, cache]
    endpoints:
      - provider: openai
        upstream_model: one
        price: { input: 2.50, output: 12, cache_read: 0.25 } # as agreed
      - provider: acme
        upstream_model: openai/one
        region: global
        context: 500
        capabilities: [tools]
        price: { input: 3, output: 12 }

  - id: openai/two
    name: Two
    modalities: { in: [text], out: [text] }
    context: 4000
    max_output: 200
    capabilities: []
    endpoints:
      - provider: openai
        upstream_model: two
        price:
          input: 0.9
          # Dear.
          output: 2
      - provider: acme
        upstream_model: openai/two
        region: eu
        context: 1000
        max_output: 100
        price: { input: 1, output: 2 }

  - id: openai/three
    name: "The three"
    released: 2026-05-04
    modalities: { in: [text], out: [text] }
    context: 1000
    max_output: 100
    capabilities: [tools]
    endpoints:
      - provider: openai
        upstream_model: three
        price: { input: 2.5, output: 10 }
`);
  });

  test("leaves an endpoint with dated prices to whoever wrote them", async () => {
    const dated = OPENAI.replace(
      "        price: { input: 2.50",
      "        scheduled: [{ from: 2027-01-01T00:00:00Z, price: { input: 3, output: 4 } }]\n        price: { input: 2.50",
    );
    writeFileSync(join(dir, "models/openai.yaml"), dated);
    const { out } = await run(
      modelsDev({ openai: [dev("one", { cost: { input: 9, output: 9 } })] }),
      "--update",
    );
    expect(out).toContain("the file has dated prices for it: change them by hand:\n  openai: one");
    expect(file("openai.yaml")).toBe(dated);
  });

  test("writes nothing where the files are broken already", async () => {
    writeFileSync(join(dir, "models/openai.yaml"), OPENAI.replace("context: 1000", "context: lots"));
    const { code, err } = await run(SOURCE);
    expect([code, names()]).toEqual([1, ["openai.yaml"]]);
    expect(err).toContain("openai.yaml:9:");
  });
});

describe("OpenRouter", () => {
  test("prices per token become prices per million, and what depends on more than tokens is left out", async () => {
    const { code, out } = await run(
      {
        data: [
          routed("qwen/qwen9", {
            prompt: "0.00000015",
            completion: "6e-7",
            input_cache_read: "0.0000000750",
            request: "0",
            image: "0.001",
          }),
          routed(
            "openai/One",
            { prompt: "0.000003", completion: "0.000012" },
            { context_length: 500, top_provider: null },
          ),
          routed("qwen/qwen9:free", { prompt: "0", completion: "0" }),
          routed("openrouter/auto", { prompt: "-1", completion: "-1" }),
          routed("qwen/long", {
            prompt: "0.000001",
            completion: "0.000002",
            overrides: [{ min_prompt_tokens: 1001, prompt: "1" }],
          }),
        ],
      },
      "--update",
    );
    expect(code).toBe(0);
    expect(file("qwen.yaml")).toContain(
      "price: { input: 0.15, output: 0.6, cache_read: 0.075, image: 0.001 }",
    );
    expect(file("qwen.yaml")).toContain(
      "    context: 2000\n    max_output: 2000\n    capabilities: [tools, json_schema, cache]",
    );
    expect(file("qwen.yaml")).toContain("    context: 1000\n");
    expect(file("qwen.yaml")).toContain('name: "qwen/qwen9"\n    released: 2026-05-28\n');
    // The model of the files that it is, though it is written in another way.
    expect(file("openai.yaml")).toContain(
      "      - provider: openrouter\n        upstream_model: openai/One\n        context: 500\n",
    );
    expect(out).toContain("it is a variant of another model:\n  qwen/qwen9:free");
    expect(out).toContain("it has no input price:\n  openrouter/auto");
  });

  test("is read over http page by page, bounded in bytes and time", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/hang") return;
      if (request.url === "/fail") response.statusCode = 500;
      if (request.url === "/big") return void response.end(`"${"x".repeat(2000)}"`);
      if (request.url === "/text") return void response.end("hello");
      const isFirst = request.url === "/models";
      const id = isFirst ? "qwen/a" : "qwen/b";
      const data = [routed(id, { prompt: "0.000001", completion: "0.000002" })];
      response.end(JSON.stringify({ data, ...(isFirst && { links: { next: "/models?offset=1" } }) }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect((await run(`${url}/models`)).code).toBe(0);
      expect(file("qwen.yaml")).toContain(`# Imported from ${url}/models on `);
      expect([...file("qwen.yaml").matchAll(/- id: (\S+)/g)].map(([, id]) => id)).toEqual([
        "qwen/a",
        "qwen/b",
      ]);
      const bounds = { maxBytes: 1000, withinMs: 20_000 };
      await expect(readPages(`${url}/big`, bounds)).rejects.toThrow("sends more than 1000 bytes");
      const hasty = { ...bounds, withinMs: 100 };
      await expect(readPages(`${url}/hang`, hasty)).rejects.toThrow("it took too long");
      await expect(readPages(`${url}/fail`, bounds)).rejects.toThrow("answers 500");
      await expect(readPages(`${url}/text`, bounds)).rejects.toThrow("is no JSON");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("refused, and nothing is written", () => {
  test.each<[object | string, string[], string]>([
    ["file:///etc/passwd", [], "file is not read: give a file or an http(s) URL"],
    ["/nowhere/at-all.json", [], "cannot be read (ENOENT)"],
    [[1, 2], [], "neither models.dev's api.json nor OpenRouter's /models"],
    [{ data: [] }, ["--from", "litellm"], "--from takes models.dev or openrouter"],
    [{ data: [] }, ["--from", "models.dev"], "this is no answer of models.dev"],
    [{ data: [], links: { next: "/2" } }, [], "is the first of several pages"],
  ])("%j %j: %s", async (source, words, message) => {
    const { code, err } = await run(source, ...words);
    expect([code, names()]).toEqual([1, ["openai.yaml"]]);
    expect(err).toContain(message);
  });
});
