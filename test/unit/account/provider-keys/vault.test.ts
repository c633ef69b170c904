/** Encryption at rest: what opens, what does not, and that no start loses or replaces the master key. */
import { createSecretKey, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openVault } from "../../../../src/account/provider-keys/vault.ts";
import { ConfigError, readConfig } from "../../../../src/host/settings/config.ts";
import { openInstallation } from "../../../../src/store/installation/installation.ts";
import { MASTER_KEY_FILE } from "../../../../src/store/installation/master-key.ts";

const OWNER = { orgId: "org_1", id: "pk_1" };
const SECRET = "sk-only-the-provider-may-see-this";
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "weir-vault-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const vault = (masterKey?: Buffer) =>
  openVault(openInstallation({ dataDir, masterKey: masterKey && createSecretKey(masterKey) }));
const file = () => join(dataDir, MASTER_KEY_FILE);

describe("a sealed text", () => {
  test("is decrypted for its owner, also after a restart, and reveals nothing of its content", () => {
    const [one, two] = [vault().seal(SECRET, OWNER), vault().seal(SECRET, OWNER)];
    expect(Buffer.from(one).equals(two)).toBe(false);
    for (const sealed of [one, two]) {
      expect(Buffer.from(sealed).includes(SECRET.slice(0, 6))).toBe(false);
      expect(vault().open(sealed, OWNER)).toBe(SECRET);
    }
  });

  test("opens for no other org or row", () => {
    const sealed = vault().seal(SECRET, OWNER);
    for (const other of [{ orgId: "org_2" }, { id: "pk_2" }, { orgId: "org_1/pk_1", id: "" }]) {
      expect(vault().open(sealed, { ...OWNER, ...other })).toBeUndefined();
    }
  });

  test("does not open once a bit of it has changed or an end is gone", () => {
    const { seal, open } = vault();
    const sealed = Buffer.from(seal(SECRET, OWNER));
    fc.assert(
      fc.property(fc.nat(sealed.length * 8 - 1), fc.nat(sealed.length - 1), (bit, length) => {
        const bent = Buffer.from(sealed);
        bent[bit >> 3] = (bent[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(open(bent, OWNER)).toBeUndefined();
        expect(open(sealed.subarray(0, length), OWNER)).toBeUndefined();
      }),
    );
  });

  test("may be of any length and script", () => {
    const { seal, open } = vault();
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 500 }), (text) => {
        expect(open(seal(text, OWNER), OWNER)).toBe(text);
      }),
    );
  });
});

describe("the master key", () => {
  test("is made once, for this user only", () => {
    vault();
    const made = readFileSync(file(), "utf8");
    expect(Buffer.from(made, "base64")).toHaveLength(32);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    vault();
    expect(readFileSync(file(), "utf8")).toBe(made);
  });

  test("replaces an unfinished file of a killed start", () => {
    writeFileSync(`${file()}.unfinished`, "half a k");
    const sealed = vault().seal(SECRET, OWNER);
    expect(existsSync(`${file()}.unfinished`)).toBe(false);
    expect(vault().open(sealed, OWNER)).toBe(SECRET);
  });

  test.each(["", "too short", randomBytes(33).toString("base64")])("is not replaced: %j", (text) => {
    writeFileSync(file(), text);
    expect(() => vault()).toThrow(`${file()} does not hold 32 bytes in base64`);
    expect(readFileSync(file(), "utf8")).toBe(text);
  });

  test("from the environment creates no file; data encrypted with the file's key can still be decrypted", () => {
    const [mine, other] = [randomBytes(32), randomBytes(32)];
    const sealedByMine = vault(mine).seal(SECRET, OWNER);
    expect(existsSync(file())).toBe(false);
    expect(vault(other).open(sealedByMine, OWNER)).toBeUndefined();
    const sealedByFile = vault().seal("older", OWNER);
    expect(vault().open(sealedByMine, OWNER)).toBeUndefined();
    expect(vault(mine).open(sealedByFile, OWNER)).toBe("older");
    expect(vault(mine).open(sealedByMine, OWNER)).toBe(SECRET);
  });
});

describe("WEIR_SECRETS_KEY", () => {
  const read = (text: string) => readConfig({ CONFIG_DIR: import.meta.dirname, WEIR_SECRETS_KEY: text });
  const bytes = randomBytes(32);

  test.each(["hex", "base64", "base64url"] as const)("in %s", (encoding) => {
    const { secretsKey } = read(bytes.toString(encoding));
    expect(secretsKey?.export().equals(bytes)).toBe(true);
  });

  test("is one of many things that no print of the settings shows", () => {
    const printed = inspect(read(bytes.toString("hex")), { depth: 9, showHidden: true });
    expect(printed + JSON.stringify(read(bytes.toString("hex")))).not.toContain(bytes.toString("hex"));
    expect(printed).not.toContain(bytes.toString("hex").match(/../g)?.slice(0, 6).join(" "));
  });

  test.each([
    ["31 bytes in base64", randomBytes(31).toString("base64")],
    ["33 bytes in base64", randomBytes(33).toString("base64")],
    ["31 bytes in hex", randomBytes(31).toString("hex")],
    ["a word", "correct horse battery staple"],
    ["a line too much", `${bytes.toString("hex")}\n0`],
  ])("of %s is refused by its name, and its value is not told", (_, text) => {
    const refused = () => read(text);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(/^WEIR_SECRETS_KEY: must be 32 bytes in base64 or hex$/);
  });

  test("left out or empty, the one in the data folder is used", () => {
    expect(read("").secretsKey).toBeUndefined();
  });
});
