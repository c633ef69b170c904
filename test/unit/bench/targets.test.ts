/** Gateways beside which the bench measures: which options name them, what they are told, and what the report says of a missing one. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { readOptions, USAGE } from "../../../bench/options.ts";
import { Processes } from "../../../bench/processes.ts";
import { agentgateway, agentgatewayConfig } from "../../../bench/targets/agentgateway.ts";
import { gomodel, gomodelConfig, gomodelEnv, gomodelUsage } from "../../../bench/targets/gomodel.ts";
import { litellmConfig } from "../../../bench/targets/litellm.ts";
import { type TargetContext, Unavailable } from "../../../bench/targets/target.ts";

const UPSTREAM = "http://127.0.0.1:4999";
const dir = mkdtempSync(join(tmpdir(), "weir-targets-test-"));
const context: TargetContext = {
  processes: new Processes(dir),
  upstreamUrl: UPSTREAM,
  scratchDir: dir,
  cacheDir: dir,
  repoDir: dir,
  say: () => {},
};
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("options", () => {
  const named = (args: string[]) => {
    const options = readOptions(args);
    return typeof options === "string" ? [] : options.targets.map((target) => target.name);
  };

  test("gateways that cannot be installed are named like the others, and are among the peers", () => {
    expect(named(["--targets", "agentgateway,gomodel,pipe"])).toEqual(["pipe", "gomodel", "agentgateway"]);
    expect(named(["--peers"]).slice(4)).toEqual(["portkey", "litellm", "gomodel", "agentgateway"]);
  });

  test("a gateway without a target is refused", () => {
    expect(() => named(["--targets", "bifrost"])).toThrow('--targets: "bifrost" is none of');
  });

  test.each(["litellm-messages", "gomodel-usage"])("%s takes part only when named", (name) => {
    expect(named(["--targets", name])).toEqual([name]);
    expect(named(["--peers"])).not.toContain(name);
  });

  test("the help says which variable has the binary of which", () => {
    expect(USAGE).toContain("gomodel: GOMODEL_BIN, agentgateway: AGENTGATEWAY_BIN");
  });
});

describe.each([
  [agentgateway, "AGENTGATEWAY_BIN"],
  [gomodel, "GOMODEL_BIN"],
  [gomodelUsage, "GOMODEL_BIN"],
])("$name without its binary", (target, variable) => {
  beforeEach(() => () => vi.unstubAllEnvs());

  const refusal = async (path: string | undefined): Promise<Error> => {
    vi.stubEnv(variable, path);
    const answer = await target.start(context).catch((error: unknown) => error);
    if (!(answer instanceof Unavailable)) throw new Error("it is not unavailable");
    return answer;
  };

  test("the report says which variable to set", async () => {
    expect((await refusal(undefined)).message).toBe(`${variable} does not name its binary`);
    expect((await refusal("")).message).toBe(`${variable} does not name its binary`);
  });

  test("a path at which nothing can be run is told", async () => {
    const file = join(dir, "plain.txt");
    writeFileSync(file, "");
    for (const path of [file, join(dir, "nothing"), dir])
      expect((await refusal(path)).message).toBe(`${variable}: ${path} cannot be run`);
  });
});

describe("configuration", () => {
  test("agentgateway asks for a key, logs no call, and has the simulator as its only upstream", () => {
    const config = agentgatewayConfig(UPSTREAM, { port: 4001, readyPort: 4002 });
    expect(parse(JSON.stringify(config))).toEqual({
      config: {
        enableIpv6: false,
        adminAddr: "off",
        statsAddr: "off",
        readinessAddr: "127.0.0.1:4002",
        logging: { filter: "false" },
      },
      llm: {
        port: 4001,
        policies: { apiKey: { mode: "strict", keys: [{ key: "sk-bench" }] } },
        models: [
          {
            name: "sim-small",
            provider: "openAI",
            params: { baseUrl: `${UPSTREAM}/v1`, apiKey: "bench" },
          },
        ],
      },
    });
  });

  test.each([false, true])("GoModel asks for its master key; usage is kept: %s", (keepsUsage) => {
    const env = gomodelEnv(UPSTREAM, { port: 4001, dir: "/scratch", keepsUsage });
    expect(env).toMatchObject({
      PORT: "4001",
      GOMODEL_MASTER_KEY: "sk-bench",
      OPENAI_BASE_URL: `${UPSTREAM}/v1`,
      OPENAI_MODELS: "sim-small",
      USAGE_ENABLED: String(keepsUsage),
      LOGGING_ENABLED: "false",
      LOG_LEVEL: "error",
      SQLITE_PATH: "/scratch/gomodel.db",
    });
  });

  test("GoModel fetches no list of models: a variable without text leaves that to its file", () => {
    expect(gomodelConfig()).toEqual({ cache: { model: { model_list: { url: "" } } } });
    expect(gomodelEnv(UPSTREAM, { port: 4001, dir: "/scratch", keepsUsage: true }).MODEL_LIST_URL).toBe("");
  });

  test.each([
    ["openai", `${UPSTREAM}/v1`],
    ["anthropic", UPSTREAM],
  ] as const)("LiteLLM asks for its master key and calls the simulator as %s", (provider, base) => {
    const config = parse(litellmConfig(UPSTREAM, provider));
    expect(config.model_list).toEqual([
      {
        model_name: "sim-small",
        litellm_params: { model: `${provider}/sim-small`, api_base: base, api_key: "bench" },
      },
    ]);
    expect(config.general_settings).toEqual({ master_key: "sk-bench" });
  });
});
