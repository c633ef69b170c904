/** The Kubernetes manifests of several cells: against the API's schema, against those of one gateway, and against the product. */
import { describe, expect, test } from "vitest";
import { redisAddress } from "../../../src/cluster/cells/redis/address.ts";
import { COMMANDS } from "../../../src/host/commands/commands.ts";
import { ConfigError, readConfig } from "../../../src/host/settings/config.ts";
import { VARIABLES } from "../../../src/host/settings/environment.ts";
import { cellsFile } from "../../support/deploy/cells.fixtures.ts";
import {
  CELL_MANIFEST_FILES as CELLS,
  deployFile,
  manifest,
  manifests,
  manifestsOf,
  statefulSet,
  there,
} from "../../support/deploy/fixtures.ts";
import { smallConfig } from "../../support/process.fixtures.ts";
import { changed, complaints } from "./kubernetes.fixtures.ts";

const named = (name: string) =>
  there(manifestsOf("StatefulSet", CELLS).find(({ metadata }) => metadata?.name === name));
const [cells, redis] = [statefulSet(named("weir")), statefulSet(named("weir-redis"))];
const job = there(manifest("Job", CELLS).spec);
const jobPod = there(job.template.spec);
const init = there(jobPod.containers[0]);
const claim = manifest("PersistentVolumeClaim", CELLS);

test("every object is what the API's schema says, and what is misspelled is found", async () => {
  const objects = manifests(CELLS);
  expect(objects.map(({ kind }) => kind)).toEqual([
    "Secret",
    "Service",
    "NetworkPolicy",
    "StatefulSet",
    "PersistentVolumeClaim",
    "Job",
    "StatefulSet",
  ]);
  const wrong = [
    changed(manifest("Job", CELLS), '"backoffLimit"', '"backofLimit"'),
    changed(manifest("Job", CELLS), '"OnFailure"', '"OnFailures"'),
    changed(
      manifest("NetworkPolicy", CELLS),
      '"podSelector":{"matchExpressions"',
      '"podSelector":{"matchExpression"',
    ),
    changed(claim, '"ReadWriteOncePod"', '"ReadWriteOncePods"'),
    changed(named("weir"), '"minReadySeconds":10', '"minReadySeconds":"10s"'),
    changed(named("weir"), '"whenScaled":"Retain"', '"whenScale":"Retain"'),
    changed(named("weir"), '"DoNotSchedule"', '"NotSchedule"'),
    changed(named("weir-redis"), '"startupProbe":{"exec"', '"startupProbe":{"exe"'),
  ];
  const found = await complaints([...objects, ...wrong]);
  expect(found.slice(0, objects.length)).toEqual(objects.map(() => []));
  for (const [i, one] of found.slice(objects.length).entries())
    expect(one.length, JSON.stringify(wrong[i])).toBeGreaterThan(0);
});

test("a cell is the pod of one gateway but for its Redis and where it may run", () => {
  const single = statefulSet();
  const { topologySpreadConstraints, ...pod } = cells.pod;
  const { env, ...container } = cells.container;
  const { env: singleEnv = [], ...singleContainer } = single.container;
  expect(container).toEqual(singleContainer);
  expect({ ...pod, containers: [] }).toEqual({ ...single.pod, containers: [] });
  expect(env?.slice(0, singleEnv.length)).toEqual(singleEnv);
  expect(env?.slice(singleEnv.length).map(({ name }) => name)).toEqual(["REDIS_PASSWORD", "REDIS_URL"]);
  for (const name of ["serviceName", "selector", "volumeClaimTemplates"] as const)
    expect(cells.set[name], name).toEqual(single.set[name]);
  expect(named("weir").metadata).toEqual(manifest("StatefulSet").metadata);
  for (const { labelSelector } of topologySpreadConstraints ?? [])
    expect(labelSelector?.matchLabels).toEqual(cells.set.selector.matchLabels);
});

test("three cells: one at a time is replaced or evicted, machines are spread, and no volume goes by itself", () => {
  expect(cells.set).toMatchObject({
    replicas: 3,
    podManagementPolicy: "Parallel",
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenScaled: "Retain", whenDeleted: "Retain" },
  });
  // By default one pod at a time.
  expect(cells.set.updateStrategy?.rollingUpdate?.maxUnavailable).toBeUndefined();
  // One more look of its readiness than a cell may miss.
  const { periodSeconds = 0 } = there(cells.container.readinessProbe);
  expect(cells.set.minReadySeconds).toBeGreaterThan(periodSeconds);
  const budget = there(manifest("PodDisruptionBudget").spec);
  expect(budget.maxUnavailable).toBe(1);
  expect(budget.selector?.matchLabels).toEqual(cells.set.selector.matchLabels);
  expect(cells.pod.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey)).toEqual([
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
  ]);
  expect(redis.set.replicas).toBe(1);
});

describe("`weir cells init`", () => {
  test("is run by the image of the cells, with their rights, settings and secrets", () => {
    const { container, pod } = cells;
    for (const name of ["image", "envFrom", "volumeMounts", "securityContext"] as const)
      expect(init[name], name).toEqual(container[name]);
    expect(jobPod.securityContext).toEqual(pod.securityContext);
    // All but the name of the cell, which it makes none of, and metrics, which it has none of.
    const ofCell = ["CELL", "METRICS_PORT"];
    expect(init.env).toEqual(container.env?.filter(({ name }) => !ofCell.includes(name)));
    const config = ({ volumes }: typeof pod) => volumes?.find(({ name }) => name === "config");
    expect(config(jobPod)).toEqual(config(pod));
  });

  test("is a command of the gateway, does nothing a second time, and is tried again where it was killed", () => {
    const [option = "", ...words] = [...there(init.args)].reverse();
    const command = there(COMMANDS.find(({ name }) => name === words.reverse().join(" ")));
    expect(Object.keys(command.options).map((name) => `--${name}`)).toContain(option);
    expect(option).toBe("--once");
    expect(init.command).toBeUndefined();
    expect(jobPod.restartPolicy).toBe("OnFailure");
    expect(job.backoffLimit).toBeGreaterThan(3);
  });

  test("has the volume of the first cell, as the StatefulSet would make it, and nobody's calls", () => {
    const [template] = there(cells.set.volumeClaimTemplates);
    expect(claim.spec).toEqual(template?.spec);
    expect(claim.metadata?.name).toBe(`${template?.metadata?.name}-${named("weir").metadata?.name}-0`);
    const data = jobPod.volumes?.find(({ name }) => name === "data");
    expect(data?.persistentVolumeClaim?.claimName).toBe(claim.metadata?.name);
    const labels = JSON.stringify(job.template.metadata?.labels);
    const selectors = [
      ...manifestsOf("Service").map(({ spec }) => spec?.selector),
      ...[cells, redis].map(({ set }) => set.selector.matchLabels),
    ];
    for (const selector of selectors) expect(JSON.stringify(selector)).not.toBe(labels);
  });
});

describe("Redis", () => {
  const compose = cellsFile().services.redis;
  const secret = manifest("Secret", CELLS);

  test("is started and asked for its health as in the compose file, which tests start", () => {
    const args = redis.container.args ?? [];
    const password = compose.command?.length ?? 0;
    expect(args.slice(0, -1)).toEqual(compose.command?.slice(0, password - 1));
    expect(args.at(-1)).toBe("$(REDIS_PASSWORD)");
    expect(redis.container.image).toBe(compose.image);
    const { runAsUser, runAsGroup, fsGroup } = there(redis.pod.securityContext);
    expect(compose.user).toBe(`${runAsUser}:${runAsGroup}`);
    expect(fsGroup).toBe(runAsGroup);
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const)
      expect(["CMD", ...there(redis.container[probe]?.exec?.command)], probe).toEqual(
        compose.healthcheck?.test,
      );
  });

  test("keeps its file on its volume, and has room for a rewrite of it", () => {
    const args = redis.container.args ?? [];
    const given = (flag: string) => args[args.indexOf(flag) + 1];
    const [mount] = there(redis.container.volumeMounts);
    expect(mount?.mountPath).toBe(given("--dir"));
    expect(redis.set.volumeClaimTemplates?.map(({ metadata }) => metadata?.name)).toEqual([mount?.name]);
    const gigabytes = Number(/^(\d+)gb$/.exec(given("--maxmemory") ?? "")?.[1]);
    const limit = Number(/^(\d+)Gi$/.exec(String(redis.container.resources?.limits?.memory))?.[1]);
    expect(limit).toBeGreaterThan(2 * gigabytes);
  });

  test("is found by the cells, with its password, and by nobody else", () => {
    const labels = redis.set.template.metadata?.labels;
    const service = manifest("Service", CELLS);
    expect(redis.set).toMatchObject({
      selector: { matchLabels: labels },
      serviceName: service.metadata?.name,
    });
    expect(service.spec?.selector).toEqual(labels);
    const [port] = there(redis.container.ports);
    expect(service.spec?.ports?.[0]?.targetPort).toBe(port?.name);
    const url = there(cells.container.env?.find(({ name }) => name === "REDIS_URL")?.value);
    expect(url).toBe(
      `redis://default:$(REDIS_PASSWORD)@${service.metadata?.name}:${service.spec?.ports?.[0]?.port}`,
    );
    for (const { env } of [cells.container, init, redis.container]) {
      const from = env?.find(({ name }) => name === "REDIS_PASSWORD")?.valueFrom?.secretKeyRef;
      expect(from?.name).toBe(secret.metadata?.name);
      expect(Object.keys(secret.stringData ?? {})).toEqual([from?.key]);
    }
    const policy = there(manifest("NetworkPolicy", CELLS).spec);
    expect(policy.podSelector?.matchLabels).toEqual(labels);
    const [rule] = there(policy.ingress);
    expect(policy.ingress).toHaveLength(1);
    expect(rule?.ports).toEqual([{ protocol: "TCP", port: port?.name }]);
    const label = "app.kubernetes.io/name";
    expect(rule?.from).toEqual([
      {
        podSelector: {
          matchExpressions: [
            {
              key: label,
              operator: "In",
              values: [cells.set.template, job.template].map(({ metadata }) => metadata?.labels?.[label]),
            },
          ],
        },
      },
    ]);
  });

  test("is not reached with the password of the template: a start refuses it", () => {
    const url = there(cells.container.env?.find(({ name }) => name === "REDIS_URL")?.value);
    const withPassword = (password: string) => url.replace("$(REDIS_PASSWORD)", password);
    const start = (password: string) =>
      readConfig({ CONFIG_DIR: smallConfig(), REDIS_URL: withPassword(password) });
    expect(() => start(String(secret.stringData?.password))).toThrow(ConfigError);
    expect(redisAddress(withPassword("4567cdef")).kind).toBe("url");
  });
});

test("every variable is one that the gateway reads, or stands in one that it reads", () => {
  const names = [cells.container, init].flatMap(({ env = [] }) =>
    env.flatMap(({ name }) => (env.some(({ value }) => value?.includes(`$(${name})`)) ? [] : [name])),
  );
  expect(names.filter((name) => !VARIABLES.includes(name))).toEqual([]);
});

test("every file and command that README.md tells of is there", () => {
  const readme = deployFile("README.md");
  const told = [...readme.matchAll(/node scripts\/weir\.mjs ([a-z]+(?: [a-z]+(?=\s|$))?)/gm)].map(
    ([, words]) => words,
  );
  expect(told.length).toBeGreaterThan(1);
  for (const words of told) expect(COMMANDS.map(({ name }) => name)).toContain(words);
  const files = [...readme.matchAll(/K\/((?:cells\/)?[\w.-]+\.yaml)/g)].map(
    ([, name]) => `kubernetes/${name}`,
  );
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) expect(deployFile(file)).not.toBe("");
  for (const file of CELLS) expect(files).toContain(file);
});
