/** What the files of `config/deploy` say of the gateway is what the gateway says: variables, port, paths, flags, times. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { PAGE_ITEMS } from "../../../src/edge/openapi/page-items.ts";
import { ConfigError, readConfig } from "../../../src/host/settings/config.ts";
import { VARIABLES } from "../../../src/host/settings/environment.ts";
import {
  environmentFileNames,
  IMAGE_USER,
  imageEnvironment,
  instruction,
  manifest,
  secondsOf,
  services,
  startEnvironment,
  startFlags,
  statefulSet,
  there,
  unitSettings,
} from "../../support/deploy/fixtures.ts";
import { REPO, testFolder } from "../../support/process.fixtures.ts";

const { weir } = services();
const { pod, container } = statefulSet();
const defaults = readConfig({ CONFIG_DIR: join(REPO, "config") });

/** The settings that the ConfigMap gives, beside the shipped catalog and plans. */
function podSettings() {
  const folder = testFolder();
  for (const file of ["plans.yaml", "supplier.yaml"]) {
    copyFileSync(join(REPO, "config", file), join(folder, file));
  }
  writeFileSync(join(folder, "weir.yaml"), there(manifest("ConfigMap").data?.["weir.yaml"]));
  return readConfig({ CONFIG_DIR: folder }).settings;
}

describe("every variable is one that the gateway reads", () => {
  const { providers } = parse(readFileSync(join(REPO, "config/providers.yaml"), "utf8"));
  const credentials = providers.flatMap((one: { credential_env?: string[] }) => one.credential_env ?? []);
  /** The system's library reads these. */
  const forAllocator = startEnvironment().map((pair) => pair.split("=")[0] as string);
  const unknown = (names: readonly string[]) =>
    names.filter((n) => ![...VARIABLES, ...credentials, ...forAllocator].includes(n));

  test.each<[string, () => string[]]>([
    ["the environment file", environmentFileNames],
    ["the unit", () => (unitSettings().get("Environment") ?? []).map((pair) => pair.split("=")[0] as string)],
    ["the image", () => Object.keys(imageEnvironment()).filter((name) => name !== "PATH")],
    ["the compose file", () => Object.keys(weir.environment ?? {})],
    ["the StatefulSet", () => (container.env ?? []).map(({ name }) => name)],
    ["the Secret", () => Object.keys(manifest("Secret").stringData ?? {})],
  ])("in %s", (_, names) => {
    expect(names().length).toBeGreaterThan(0);
    expect(unknown(names())).toEqual([]);
  });

  test("and a name that it does not read is found", () => {
    expect(unknown(["DATA_DIR", "DATA_DIRECTORY", "OPENAI_API_KEY"])).toEqual(["DATA_DIRECTORY"]);
  });
});

test("the unit and the image start Node with the flags of the start script, and nothing between", () => {
  const run = [...startFlags(), "scripts/weir.mjs"];
  expect(unitSettings().get("ExecStart")).toEqual([["/opt/weir/node_modules/.bin/node", ...run].join(" ")]);
  expect(JSON.parse(instruction("ENTRYPOINT"))).toEqual(["node", ...run]);
});

test("the unit and the image tell the allocator what the start script tells it", () => {
  expect(unitSettings().get("Environment")).toEqual(expect.arrayContaining(startEnvironment()));
  const image = Object.entries(imageEnvironment()).map(([name, value]) => `${name}=${value}`);
  expect(image).toEqual(expect.arrayContaining(startEnvironment()));
});

test("everything speaks of the port on which the gateway listens", () => {
  const port = String(defaults.port);
  expect(imageEnvironment().PORT).toBe(port);
  expect(instruction("EXPOSE")).toBe(port);
  const metrics = String(weir.environment?.METRICS_PORT);
  expect(weir.ports).toEqual([`127.0.0.1:${port}:${port}`, `127.0.0.1:${metrics}:${metrics}`]);
  expect(String(container.ports?.[0]?.containerPort)).toBe(port);
});

test("probes ask paths that the gateway serves: liveness whether it is alive, readiness whether it takes calls", () => {
  const pathOf = (id: string) => PAGE_ITEMS.find(({ operationId }) => operationId === id)?.path;
  const [health, readiness] = [pathOf("getHealth"), pathOf("getReadiness")];
  expect(container.startupProbe?.httpGet?.path).toBe(health);
  expect(container.livenessProbe?.httpGet?.path).toBe(health);
  expect(container.readinessProbe?.httpGet?.path).toBe(readiness);
  expect(instruction("HEALTHCHECK")).toContain(`}${health}\``);
});

describe("a stop may take timeouts.shutdown_ms and some seconds more", () => {
  const SPARE_S = 5;

  test("under systemd", () => {
    const stop = Number(unitSettings().get("TimeoutStopSec"));
    expect(stop).toBeGreaterThanOrEqual(defaults.settings.timeouts.shutdown_ms / 1000 + SPARE_S);
  });

  test("in a container of the compose file", () => {
    const stop = secondsOf(String(weir.stop_grace_period));
    expect(stop).toBeGreaterThanOrEqual(defaults.settings.timeouts.shutdown_ms / 1000 + SPARE_S);
  });

  test("in Kubernetes, after the preStop sleep", () => {
    const sleep = there(container.lifecycle?.preStop?.sleep?.seconds);
    expect(sleep).toBeGreaterThan(there(container.readinessProbe?.periodSeconds));
    const needed = sleep + podSettings().timeouts.shutdown_ms / 1000 + SPARE_S;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
  });
});

test("the ConfigMap's weir.yaml is read, and lands where the image looks for it", () => {
  expect(podSettings().timeouts).toEqual(defaults.settings.timeouts);
  const mount = container.volumeMounts?.find(({ subPath }) => subPath === "weir.yaml");
  expect(mount?.mountPath).toBe(`${imageEnvironment().CONFIG_DIR}/weir.yaml`);
});

test("the data folder is on the volume, in the image, the compose file and the pod", () => {
  const { DATA_DIR } = imageEnvironment();
  expect(weir.volumes).toEqual([`weir-data:${DATA_DIR}`]);
  const mount = container.volumeMounts?.find(({ name }) => name === "data");
  expect(container.env?.find(({ name }) => name === "DATA_DIR")?.value).toMatch(
    new RegExp(`^${mount?.mountPath}/\\w+$`),
  );
  expect(unitSettings().get("Environment")).toContain(
    `DATA_DIR=/var/lib/${unitSettings().get("StateDirectory")}`,
  );
});

test("image, compose file and pod name the same image and user, with the version of package.json", () => {
  const { version } = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));
  expect([weir.image, container.image]).toEqual([`weir:${version}`, `weir:${version}`]);
  const { runAsUser, runAsGroup, fsGroup } = there(pod.securityContext);
  expect([runAsUser, runAsGroup, fsGroup]).toEqual([IMAGE_USER, IMAGE_USER, IMAGE_USER]);
});

test("the Secret's template is refused as it stands, with every variable named that has no value yet", () => {
  const values = manifest("Secret").stringData ?? {};
  const template = Object.entries(values).map(([name, value]) => [name, String(value)] as const);
  const start = () => readConfig({ CONFIG_DIR: join(REPO, "config"), ...Object.fromEntries(template) });
  expect(start).toThrow(ConfigError);
  for (const [name, value] of template) if (value !== "") expect(start).toThrow(name);
});

test("one limit of descriptors is given everywhere, the one of docs/operating.md", () => {
  const operating = readFileSync(join(REPO, "docs/operating.md"), "utf8");
  const limit = /LimitNOFILE=(\d+)/.exec(operating)?.[1];
  expect(unitSettings().get("LimitNOFILE")).toEqual([limit]);
  expect(String(weir.ulimits?.nofile)).toBe(limit);
});
