/** An org's own provider keys: what is taken and refused, what is shown, and what calls get of them in memory. */
import { createSecretKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { providerKeyOperations } from "../../../../src/account/provider-keys/provider-key-operations.ts";
import { ProviderKeys } from "../../../../src/account/provider-keys/provider-keys.ts";
import { openVault, type Vault } from "../../../../src/account/provider-keys/vault.ts";
import type { AccountTables } from "../../../../src/account/tables.ts";
import type { Provider } from "../../../../src/base/endpoint.ts";
import { asWeirError } from "../../../../src/base/errors.ts";
import type { AnyOperation, Caller } from "../../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { openInstallation } from "../../../../src/store/installation/installation.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { NO_TRAIL } from "../../../support/trail.fixtures.ts";
import { accountRig, failure, failureKind } from "../fixtures.ts";

interface Shown {
  readonly id: string;
  readonly provider: string;
  readonly status: string;
}

const rig = accountRig();
const SECRET = `sk-own-${randomBytes(16).toString("hex")}`;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const pem = (key: typeof privateKey) => key.export({ type: "pkcs8", format: "pem" }).toString();
/** As Google's console writes it. */
const GOOGLE = {
  type: "service_account",
  project_id: "acme",
  private_key_id: "0123456789abcdef",
  private_key: pem(privateKey),
  client_email: "weir@acme.iam.gserviceaccount.com",
  auth_uri: "https://accounts.google.com/o/oauth2/auth",
  token_uri: "https://oauth2.googleapis.com/token",
};
const AWS = { access_key_id: "AKIAIOSFODNN7EXAMPLE", secret_access_key: `aws/${SECRET}` };

const provider = (id: string, given: Partial<Provider> = {}): Provider =>
  ({
    id,
    name: `The ${id}`,
    baseUrl: `https://${id}.example`,
    credentialEnv: ["SOME_KEY"],
    keys: [],
    status: "inactive",
    ...given,
  }) as unknown as Provider;

const providers = new Map(
  [
    provider("openai"),
    provider("anthropic", { auth: { scheme: "header", header: "x-api-key" } }),
    provider("bedrock", { auth: { scheme: "aws_sigv4", service: "bedrock", region: "us-east-1" } }),
    provider("vertex", { auth: { scheme: "google_oauth" } }),
    provider("simulator", { credentialEnv: [], status: "active" }),
    provider("azure", { baseUrl: "" }),
  ].map((one) => [one.id, one]),
);

let vault: Vault;
let providerKeys: ProviderKeys;
let ops: ReturnType<typeof providerKeyOperations>;

/** What a start does; another master key is another gateway's. */
function open(masterKey?: Buffer): string[] {
  const unreadable: string[] = [];
  const { accounts, clock, dataDir } = rig;
  vault = openVault(openInstallation({ dataDir, masterKey: masterKey && createSecretKey(masterKey) }));
  providerKeys = new ProviderKeys({ accounts, vault, onUnreadable: ({ id }) => unreadable.push(id) });
  ops = providerKeyOperations({
    accounts,
    clock,
    ownKeys: providerKeys,
    trail: NO_TRAIL,
    quotas: USUAL_QUOTAS,
    providers: () => providers,
  });
  return unreadable;
}
beforeEach(() => void open());

/** Runs an operation as the edge does. */
async function call<T>(
  name: keyof typeof ops,
  by: Caller,
  input: { id?: string; body?: unknown },
): Promise<T> {
  const op = ops[name] as AnyOperation;
  const read = (schema: AnyOperation["body"], value: unknown) => schema?.parse(value) as undefined;
  const answer = await op.run(
    { params: read(op.params, { id: input.id }), query: undefined, body: read(op.body, input.body) },
    by,
    NO_HEAD,
  );
  expect(op.output.parse(answer)).toEqual(answer);
  return answer as T;
}
const add = (body: object = {}, by = rig.owner) =>
  call<Shown>("createProviderKey", by, { body: { provider: "openai", credential: SECRET, ...body } });
const remove = (id: string, by = rig.owner) => call<undefined>("deleteProviderKey", by, { id });
const list = async (by = rig.owner) => (await call<{ data: Shown[] }>("listProviderKeys", by, {})).data;
const stranger = (): Caller => ({ ...rig.owner, orgId: "org_other", projectId: "prj_other" });
const own = () => providerKeys.of(rig.owner.orgId);

describe("a provider key", () => {
  test("is answered with a hint, and listed newest first", async () => {
    const first = await add();
    expect(first).toEqual({
      id: expect.stringMatching(/^pk_[0-9A-HJKMNP-TV-Z]{26}$/),
      provider: "openai",
      name: "The openai",
      hint: SECRET.slice(-4),
      platform_fallback: true,
      status: "active",
      created_at: "2026-09-09T00:00:00.000Z",
    });
    const second = await add({ provider: "anthropic", name: "Spare", platform_fallback: false });
    expect(second).toMatchObject({ provider: "anthropic", name: "Spare", platform_fallback: false });
    expect(await list()).toEqual([second, first]);
  });

  test.each([
    ["a string", "openai", ` ${SECRET}\n`, SECRET, SECRET],
    ["a bearer token of AWS", "bedrock", SECRET, SECRET, SECRET],
    [
      "AWS keys",
      "bedrock",
      { ...AWS, session_token: "temporary-token" },
      {
        kind: "aws_keys",
        accessKeyId: AWS.access_key_id,
        secretAccessKey: AWS.secret_access_key,
        sessionToken: "temporary-token",
      },
      AWS.access_key_id,
    ],
    [
      "a service account",
      "vertex",
      GOOGLE,
      {
        kind: "service_account",
        clientEmail: GOOGLE.client_email,
        privateKey: GOOGLE.private_key,
        privateKeyId: GOOGLE.private_key_id,
        tokenUri: GOOGLE.token_uri,
      },
      GOOGLE.private_key_id,
    ],
  ])("of %s is what calls get, also after a restart", async (_, id, credential, expected, named) => {
    const shown = await add({ provider: id, credential });
    for (const start of [() => {}, open]) {
      start();
      const [key] = own()?.of(id) ?? [];
      expect(key).toEqual({ id: shown.id, poolId: `byok_${id}`, hint: named.slice(-4), isByok: true });
      expect(key?.credential).toEqual(expected);
    }
  });

  test.each([
    [{ provider: "opnai" }, 'invalid_value /provider: There is no such provider. Did you mean "openai"?'],
    [{ provider: "zzz" }, "invalid_value /provider: There is no such provider."],
    [
      { provider: "simulator" },
      "invalid_value /provider: The simulator needs no credential, so no key could be used.",
    ],
    [
      { provider: "azure" },
      "invalid_value /provider: The azure has no address at this gateway, so no key could be used.",
    ],
    [{ credential: AWS }, "invalid_value /credential: The openai takes a credential in one piece."],
    [{ credential: GOOGLE }, "invalid_value /credential: The openai takes a credential in one piece."],
    [
      { provider: "bedrock", credential: GOOGLE },
      "invalid_value /credential: The bedrock takes a credential in one piece, or AWS keys.",
    ],
    [
      { provider: "vertex" },
      "invalid_value /credential: The vertex takes the members of a service account's key file.",
    ],
    [{ provider: "vertex", credential: { ...GOOGLE, access_key_id: "x" } }, "done"],
    [
      { provider: "vertex", credential: { ...GOOGLE, token_uri: "http://169.254.169.254/" } },
      "invalid_value /credential/token_uri: It must be https://oauth2.googleapis.com/token.",
    ],
    [
      { provider: "vertex", credential: { ...GOOGLE, private_key: SECRET } },
      "invalid_value /credential/private_key: It is no RSA key in PEM.",
    ],
    [
      { provider: "vertex", credential: { ...GOOGLE, private_key: pem(elliptic) } },
      "invalid_value /credential/private_key: It is no RSA key in PEM.",
    ],
    [
      { provider: "vertex", credential: { ...GOOGLE, more: "x".repeat(8192) } },
      "invalid_value /credential: A credential may have 8192 bytes.",
    ],
  ])("%j is %s", async (body, expected) => {
    const outcome = await add(body).then(
      () => "done",
      (error: unknown) => {
        const { kind, param, message } = asWeirError(error);
        return `${kind} ${param}: ${message}`;
      },
    );
    expect(outcome).toBe(expected);
    expect(outcome).not.toContain(SECRET);
  });

  test.each([
    ["too short to hide", "short", "expected string to have >=8 characters"],
    ["of two words", `${SECRET} ${SECRET}`, "use printable ASCII"],
    ["with a line break", `${SECRET}\r\nx-evil: 1`, "use printable ASCII"],
    ["beyond 8 KB", "k".repeat(8193), "expected string to have <=8192 characters"],
    ["that is a number", 12_345_678, "a credential is a string of"],
    ["that is half of AWS's", { access_key_id: AWS.access_key_id }, "a credential is a string of"],
    ["that is nothing known", { token: SECRET }, "a credential is a string of"],
  ])("with a credential %s is refused, and the reason repeats nothing of it", (_, credential, why) => {
    const { issues = [] } =
      ops.createProviderKey.body?.safeParse({ provider: "openai", credential }).error ?? {};
    expect(issues).toMatchObject([{ path: ["credential"], message: expect.stringContaining(why) }]);
    expect(issues[0]?.message).not.toContain(SECRET);
  });

  test("S13: is changed by a key only while the person who made that key may change it", async () => {
    const { id } = await add();
    const keyOf = async (maker: Caller) =>
      rig.caller(
        (await rig.create({ scopes: ["write:keys"], project_id: rig.owner.projectId }, maker)).secret,
      );
    const byMember = await keyOf(await rig.person("member"));
    const ofMembersKey = await keyOf(byMember);
    for (const key of [byMember, ofMembersKey]) {
      expect(await failure(() => add({}, key))).toBe("role");
      expect(await failure(() => remove(id, key))).toBe("role");
    }
    expect(await list()).toHaveLength(1);
    const byAdmin = await keyOf(await rig.person("admin"));
    expect(await failure(() => add({}, byAdmin))).toBe("done");
    expect(await failure(() => remove(id, byAdmin))).toBe("done");
  });

  test("is changed by live keys only, and seen by those of its org", async () => {
    const { id } = await add();
    const byTest = rig.caller(rig.secrets.test);
    expect(await failureKind(() => add({}, byTest))).toBe("scope");
    expect(await failureKind(() => remove(id, byTest))).toBe("scope");
    expect(await list(byTest)).toHaveLength(1);
    expect(await list(stranger())).toEqual([]);
    expect(await failure(() => remove(id, stranger()))).toBe("not_found");
    expect(await failure(() => add({}, stranger()))).toBe("not_found");
    expect(await remove(id)).toBeUndefined();
    expect(await failure(() => remove(id))).toBe("not_found");
    expect(await list()).toEqual([]);
  });

  test("of a closed org is refused", async () => {
    const { accounts, owner } = rig;
    const org = accounts.org(owner.orgId);
    if (org !== undefined) await accounts.act(() => accounts.addOrg({ ...org, status: "closed" }));
    expect(await failure(() => add())).toBe("org_closed");
  });

  test(`200 at once make ${USUAL_QUOTAS.provider_keys}; another provider has its own bound`, async () => {
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => failureKind(() => add())));
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(USUAL_QUOTAS.provider_keys);
    expect(new Set(outcomes)).toEqual(new Set(["done", "plan_limit"]));
    expect(own()?.of("openai")).toHaveLength(USUAL_QUOTAS.provider_keys);
    expect(await add({ provider: "anthropic" })).toMatchObject({ provider: "anthropic" });
  });

  test("T61: lies nowhere in the data folder as it is", async () => {
    await add();
    await add({ provider: "bedrock", credential: AWS });
    const files = readdirSync(rig.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
    // The search would find it: the row's id is there in clear.
    expect(files.some((bytes) => bytes.includes("pk_"))).toBe(true);
    expect(files.some((bytes) => bytes.includes(SECRET))).toBe(false);
    expect(JSON.stringify([own()?.of("openai"), own()?.of("bedrock")])).not.toContain(SECRET);
  });
});

describe("in memory", () => {
  test("an org without keys has nothing; a change is there once it is answered", async () => {
    expect(own()).toBeUndefined();
    const { id } = await add();
    expect(own()?.of("openai")).toHaveLength(1);
    expect(own()?.of("anthropic")).toEqual([]);
    expect(providerKeys.of("org_other")).toBeUndefined();
    await remove(id);
    expect(own()).toBeUndefined();
  });

  test("the keys held by a call do not change, and an unchanged key stays the same object", async () => {
    const { id } = await add();
    const taken = own();
    const [key] = taken?.of("openai") ?? [];
    await add({ credential: `${SECRET}2` });
    expect(own()?.of("openai")).toHaveLength(2);
    expect(own()?.of("openai")[0]).toBe(key);
    await remove(id);
    expect(taken?.of("openai")).toEqual([key]);
    expect(
      own()
        ?.of("openai")
        .map((one) => one.credential),
    ).toEqual([`${SECRET}2`]);
  });

  test("one key that forbids the platform's credential speaks for its pool", async () => {
    await add();
    expect(own()?.platformFallback("openai")).toBe(true);
    const { id } = await add({ platform_fallback: false });
    await add();
    expect([own()?.platformFallback("openai"), own()?.platformFallback("anthropic")]).toEqual([false, true]);
    await remove(id);
    expect(own()?.platformFallback("openai")).toBe(true);
  });

  test("keys that cannot be decrypted are reported, shown as unreadable, and not used; what they forbid stays forbidden", async () => {
    const { id } = await add({ platform_fallback: false });
    expect(open(randomBytes(32))).toEqual([]);
    // The master key's file is gone, and another one has come.
    const { accounts } = rig;
    const lost = openVault({ masterKeys: [createSecretKey(randomBytes(32))] });
    const row = accounts.providerKey(rig.owner.orgId, id);
    if (row === undefined) throw new Error("no row");
    const sealed = lost.seal("{}", row);
    await accounts.act(() => accounts.addProviderKey({ ...row, sealed }));
    expect(open()).toEqual([id]);
    expect(await list()).toMatchObject([{ id, status: "unreadable", hint: SECRET.slice(-4) }]);
    expect(own()?.of("openai")).toEqual([]);
    expect(own()?.platformFallback("openai")).toBe(false);
    await add({ provider: "anthropic" });
    expect((await list()).map(({ status }) => status)).toEqual(["active", "unreadable"]);
    await remove(id);
    expect(own()?.platformFallback("openai")).toBe(true);
  });

  test("rows of many orgs are separate", async () => {
    const accounts: AccountTables = rig.accounts;
    for (const [at, orgId] of ["org_a", "org_b", "org_a"].entries()) {
      const owner = { orgId, id: `pk_${at}` };
      await accounts.act(() =>
        accounts.addProviderKey({
          ...owner,
          providerId: "openai",
          name: "n",
          hint: "",
          platformFallback: true,
          sealed: vault.seal(JSON.stringify(`credential-${at}`), owner),
          createdAtMs: at,
        }),
      );
    }
    open();
    const credentials = (orgId: string) =>
      providerKeys
        .of(orgId)
        ?.of("openai")
        .map((key) => key.credential);
    expect(credentials("org_a")).toEqual(["credential-0", "credential-2"]);
    expect(credentials("org_b")).toEqual(["credential-1"]);
  });
});
