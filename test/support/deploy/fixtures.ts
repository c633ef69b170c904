/**
 * The files of `config/deploy`, read for tests, and what tests of them need of this machine: linters, another user's rights. A tool
 * that is missing is installed from Debian where that is possible; where not, its tests are skipped with the reason.
 */
import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { IStatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import type { IConfigMap } from "kubernetes-models/v1/ConfigMap";
import type { IPersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import type { ISecret } from "kubernetes-models/v1/Secret";
import type { IService } from "kubernetes-models/v1/Service";
import { onTestFinished } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { removeFolder } from "../gateway.ts";
import { REPO } from "../process.fixtures.ts";

export const DEPLOY = join(REPO, "config/deploy");
export const deployFile = (name: string): string => readFileSync(join(DEPLOY, name), "utf8");

/** User and group that the image and the pod run as. */
export const IMAGE_USER = 10001;
const isRoot = process.getuid?.() === 0;
/** Options for a process that is not root's. */
export const asImageUser = isRoot ? { uid: IMAGE_USER, gid: IMAGE_USER } : {};
/** Why a process that is not root's cannot run the product here; undefined where it can. */
export const unreadable =
  spawnSync("test", ["-r", join(REPO, "package.json")], asImageUser).status === 0
    ? undefined
    : "the repository is in a folder that only root enters";

/** A folder of that user, outside of the tests' own, which other users cannot enter. Removed when the test is over. */
export function imageUserFolder(): string {
  const folder = mkdtempSync("/tmp/weir-deploy-");
  if (isRoot) chownSync(folder, IMAGE_USER, IMAGE_USER);
  onTestFinished(() => removeFolder(folder));
  return folder;
}

const startScript = (): { environment: string[]; flags: string[] } => {
  const { scripts } = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));
  const [, environment, flags] = /^exec env (.+) node (.+) scripts\/weir\.mjs$/.exec(scripts.start) ?? [];
  if (environment === undefined || flags === undefined)
    throw new Error(`the start script is ${scripts.start}`);
  return { environment: environment.split(" "), flags: flags.split(" ") };
};

/** Node's flags in the start script of package.json. */
export const startFlags = (): string[] => startScript().flags;

/** What that script tells the allocator: `NAME=value`. */
export const startEnvironment = (): string[] => startScript().environment;

/** Directives of the systemd unit; one that may stand several times has several values. */
export function unitSettings(): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, string[]>();
  for (const line of deployFile("weir.service").split("\n")) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    settings.set(name, [...(settings.get(name) ?? []), value]);
  }
  return settings;
}

export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** Instructions of the Dockerfile, each in one line. */
export function instructions(): Instruction[] {
  return deployFile("Dockerfile")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", ...rest] = line.split(" ");
      return { name, rest: rest.join(" ") };
    });
}

/** What follows the only instruction of this name. @throws Error where there are more or none */
export function instruction(name: string): string {
  const [only, another] = instructions().filter((one) => one.name === name);
  if (only === undefined || another !== undefined) throw new Error(`not one ${name} in the Dockerfile`);
  return only.rest;
}

/** Variables that the image sets. */
export const imageEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    instruction("ENV")
      .split(" ")
      .map((pair) => pair.split("=") as [string, string]),
  );

/** What the manifests hold. */
interface Kinds {
  readonly ConfigMap: IConfigMap;
  readonly Secret: ISecret;
  readonly Service: IService;
  readonly StatefulSet: IStatefulSet;
  readonly PodDisruptionBudget: IPodDisruptionBudget;
  readonly Job: IJob;
  readonly NetworkPolicy: INetworkPolicy;
  readonly PersistentVolumeClaim: IPersistentVolumeClaim;
}
export type Manifest = Kinds[keyof Kinds];

export const MANIFEST_FILES = [
  "config.yaml",
  "secret.example.yaml",
  "service.yaml",
  "statefulset.yaml",
  "disruption-budget.yaml",
].map((name) => join("kubernetes", name));

/** Files for several cells, beside those of one gateway but its StatefulSet. */
export const CELL_MANIFEST_FILES = ["secret.example.yaml", "redis.yaml", "init.yaml", "statefulset.yaml"].map(
  (name) => join("kubernetes/cells", name),
);

/** All objects of Kubernetes manifests. Their types are checked by a test of their own. */
export const manifests = (files: readonly string[] = MANIFEST_FILES): Manifest[] =>
  files.flatMap((name) =>
    parseAllDocuments(deployFile(name), { strict: true }).map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() as Manifest;
    }),
  );

/** All objects of a kind. */
export const manifestsOf = <K extends keyof Kinds>(kind: K, files = MANIFEST_FILES): Kinds[K][] =>
  manifests(files).filter((one): one is Kinds[K] => one.kind === kind);

/** The first object of a kind. */
export const manifest = <K extends keyof Kinds>(kind: K, files = MANIFEST_FILES): Kinds[K] =>
  there(manifestsOf(kind, files)[0]);

/** @throws Error where nothing is there */
export function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it is missing");
  return value;
}

/** A StatefulSet, its pod and the pod's only container. Default: that of one gateway. */
export function statefulSet(given = manifest("StatefulSet")) {
  const set = there(given.spec);
  const pod = there(set.template.spec);
  return { set, pod, container: there(pod.containers[0]) };
}

export interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
  readonly ulimits?: { readonly nofile: number };
}

/** Services of the compose file of one gateway. */
export const services = (): Record<"weir" | "clickhouse", Service> =>
  parse(deployFile("compose.yaml")).services;

/** Variables that an environment file has, also those in comments. */
export const environmentFileNames = (): string[] =>
  [...deployFile("weir.env.example").matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name as string);

/** Seconds of `45s`. */
export const secondsOf = (duration: string): number => {
  const [, digits] = /^(\d+)s$/.exec(duration) ?? [];
  if (digits === undefined) throw new Error(`${duration} is no number of seconds`);
  return Number(digits);
};
