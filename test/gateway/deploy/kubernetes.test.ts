/**
 * The Kubernetes manifests, against the API's own schema in two ways. TypeScript compares every object with the API's types, which
 * finds fields that do not exist; the generated validators find missing fields and wrong values. And what one object says of another
 * must be there.
 */
import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REPO, testFolder } from "../process/fixtures.ts";
import { type Manifest, manifest, manifests, manifestsOf, statefulSet, there } from "./fixtures.ts";

const modelOf = ({ apiVersion, kind }: Manifest) => `kubernetes-models/${apiVersion}/${kind}`;

/** Complaints of the compiler and the validators about each object, in the order of the objects. */
async function complaints(objects: readonly Manifest[]): Promise<string[][]> {
  const folder = testFolder();
  symlinkSync(join(REPO, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  // Fresh literals: only those are searched for members that the type lacks.
  const files = objects.map((object, i) => {
    const file = join(folder, `object${i}.ts`);
    const type = `I${object.kind}`;
    const text = `import type { ${type} } from "${modelOf(object)}";\nexport const it: ${type} = ${JSON.stringify(object, null, 2)};\n`;
    writeFileSync(file, text);
    return file;
  });
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
  const tsc = join(REPO, "node_modules/.bin/tsc");
  const { stdout, error } = spawnSync(tsc, [...flags, ...files], { cwd: folder, encoding: "utf8" });
  if (error !== undefined) throw error;
  const found = objects.map((_, i) =>
    stdout.split("\n").filter((line) => line.startsWith(`object${i}.ts`) || line.includes(`/object${i}.ts`)),
  );
  const placed = found.flat().length;
  const told = stdout.split("\n").filter((line) => line.includes("error TS")).length;
  // What names no object, such as a package that is missing, must not be lost.
  if (placed !== told) throw new Error(stdout);
  for (const [i, object] of objects.entries()) {
    const Model = (await import(modelOf(object)))[String(object.kind)];
    try {
      new Model(object).validate();
    } catch (fault) {
      found[i]?.push(String(fault));
    }
  }
  return found;
}

/** A copy whose text is changed in one place. */
function changed(kind: Manifest["kind"], from: string, to: string): Manifest {
  const text = JSON.stringify(manifest(kind));
  expect(text.split(from), from).toHaveLength(2);
  return JSON.parse(text.replace(from, to));
}

test("every object is what the API's schema says", async () => {
  const objects = manifests();
  expect(objects.map(({ kind }) => kind)).toEqual([
    ...["ConfigMap", "Secret", "Service", "Service", "StatefulSet", "PodDisruptionBudget"],
  ]);
  expect(await complaints(objects)).toEqual(objects.map(() => []));
});

test("a misspelled field, a wrong type, a wrong word and a missing field are each found", async () => {
  const wrong = [
    changed("StatefulSet", '"readinessProbe"', '"readynessProbe"'),
    changed("StatefulSet", '"sleep":{"seconds"', '"sleep":{"second"'),
    changed("StatefulSet", '"runAsNonRoot"', '"runAsNonroot"'),
    changed("StatefulSet", '"terminationGracePeriodSeconds":60', '"terminationGracePeriodSeconds":"60s"'),
    changed("StatefulSet", '"ReadWriteOncePod"', '"ReadWriteOncePods"'),
    changed("StatefulSet", '"RuntimeDefault"', '"Default"'),
    changed("StatefulSet", '"image":"weir:0.1.0",', '"images":"weir:0.1.0",'),
    changed("StatefulSet", '"type":"RollingUpdate"', '"typ":"RollingUpdate"'),
    changed("PodDisruptionBudget", '"maxUnavailable"', '"maxUnavailables"'),
    changed("Secret", '"stringData"', '"stringdata"'),
  ];
  for (const [i, found] of (await complaints(wrong)).entries()) {
    expect(found.length, JSON.stringify(wrong[i])).toBeGreaterThan(0);
  }
});

test("every name that one object says of another is there", () => {
  const { set, pod, container } = statefulSet();
  const labels = set.template.metadata?.labels;
  const services = manifestsOf("Service");
  expect(services).toHaveLength(2);
  for (const { spec } of services) {
    expect(spec?.selector).toEqual(labels);
    expect(container.ports?.map(({ name }) => name)).toEqual(
      spec?.ports?.map(({ targetPort }) => targetPort),
    );
  }
  expect(set.selector.matchLabels).toEqual(labels);
  expect(manifest("PodDisruptionBudget").spec?.selector?.matchLabels).toEqual(labels);
  const headless = services.find(({ spec }) => spec?.clusterIP === "None");
  expect(headless?.metadata?.name).toBe(set.serviceName);
  for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const) {
    expect(container[probe]?.httpGet?.port, probe).toBe(container.ports?.[0]?.name);
  }
  const claims = set.volumeClaimTemplates?.map(({ metadata }) => metadata?.name) ?? [];
  const volumes = pod.volumes?.map(({ name }) => name) ?? [];
  const mounts = there(container.volumeMounts);
  expect(mounts.map(({ name }) => name)).toEqual([...claims, ...volumes]);
  const config = manifest("ConfigMap");
  expect(pod.volumes?.[0]?.configMap?.name).toBe(config.metadata?.name);
  expect(mounts.flatMap(({ subPath }) => subPath ?? [])).toEqual(Object.keys(config.data ?? {}));
  expect(container.envFrom?.[0]?.secretRef?.name).toBe(manifest("Secret").metadata?.name);
});

test("the pod keeps to the restricted Pod Security Standard, and writes to its volume alone", () => {
  const { pod, container } = statefulSet();
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  });
  for (const name of ["hostNetwork", "hostPID", "hostIPC"] as const) expect(pod[name]).toBeUndefined();
  expect(pod.containers).toHaveLength(1);
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(pod.volumes?.flatMap((volume) => Object.keys(volume))).toEqual(["name", "configMap"]);
});

test("one gateway has the data folder: one replica, on a volume that one pod alone may use", () => {
  const { set } = statefulSet();
  expect(set.replicas).toBe(1);
  expect(set.volumeClaimTemplates?.[0]?.spec?.accessModes).toEqual(["ReadWriteOncePod"]);
});
