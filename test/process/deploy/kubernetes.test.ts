/**
 * The Kubernetes manifests, against the API's own schema in two ways. TypeScript compares every object with the API's types, which
 * finds fields that do not exist; the generated validators find missing fields and wrong values. And what one object says of another
 * must be there.
 */
import { expect, test } from "vitest";
import { manifest, manifests, manifestsOf, statefulSet, there } from "../../support/deploy/fixtures.ts";
import { changed, complaints } from "./kubernetes.fixtures.ts";

test("every object is what the API's schema says", async () => {
  const objects = manifests();
  expect(objects.map(({ kind }) => kind)).toEqual([
    "ConfigMap",
    "Secret",
    "Service",
    "Service",
    "StatefulSet",
    "PodDisruptionBudget",
  ]);
  expect(await complaints(objects)).toEqual(objects.map(() => []));
});

test("a misspelled field, a wrong type, a wrong word and a missing field are each found", async () => {
  const wrong = [
    changed(manifest("StatefulSet"), '"readinessProbe"', '"readynessProbe"'),
    changed(manifest("StatefulSet"), '"sleep":{"seconds"', '"sleep":{"second"'),
    changed(manifest("StatefulSet"), '"runAsNonRoot"', '"runAsNonroot"'),
    changed(
      manifest("StatefulSet"),
      '"terminationGracePeriodSeconds":60',
      '"terminationGracePeriodSeconds":"60s"',
    ),
    changed(manifest("StatefulSet"), '"ReadWriteOncePod"', '"ReadWriteOncePods"'),
    changed(manifest("StatefulSet"), '"RuntimeDefault"', '"Default"'),
    changed(manifest("StatefulSet"), '"image":"weir:0.1.0",', '"images":"weir:0.1.0",'),
    changed(manifest("StatefulSet"), '"type":"RollingUpdate"', '"typ":"RollingUpdate"'),
    changed(manifest("PodDisruptionBudget"), '"maxUnavailable"', '"maxUnavailables"'),
    changed(manifest("Secret"), '"stringData"', '"stringdata"'),
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
    // Metrics are asked for at each pod: no Service gives their port to whoever has its address.
    expect(container.ports?.map(({ name }) => name)).toEqual([
      ...there(spec?.ports).map(({ targetPort }) => targetPort),
      "metrics",
    ]);
  }
  expect(set.selector.matchLabels).toEqual(labels);
  expect(manifest("PodDisruptionBudget").spec?.selector?.matchLabels).toEqual(labels);
  const metrics = String(container.ports?.[1]?.containerPort);
  expect(container.env?.find(({ name }) => name === "METRICS_PORT")?.value).toBe(metrics);
  expect(set.template.metadata?.annotations).toMatchObject({
    "prometheus.io/scrape": "true",
    "prometheus.io/port": metrics,
    "prometheus.io/path": "/metrics",
  });
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
