/** `SMTP_URL` and `MAIL_FROM` as the environment gives them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError, readConfig } from "../../../../src/host/settings/config.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));
const read = (env: Record<string, string>) =>
  readConfig({ CONFIG_DIR: folder, DATA_DIR: join(folder, "data"), ...env });

describe("SMTP_URL", () => {
  const plain = { isTls: false, isLoopback: false, user: "", password: "" };
  test.each([
    ["smtp://mail.example.com", { ...plain, host: "mail.example.com", port: 587 }],
    ["smtps://mail.example.com", { ...plain, host: "mail.example.com", port: 465, isTls: true }],
    ["smtp://LOCALHOST:1025/", { ...plain, host: "localhost", port: 1025, isLoopback: true }],
    ["smtp://[::1]:25", { ...plain, host: "::1", port: 25, isLoopback: true }],
    [
      "smtp://a%40b.example:p%3Aw%25%2F@mail.example.com:2525",
      { ...plain, host: "mail.example.com", port: 2525, user: "a@b.example", password: "p:w%/" },
    ],
  ])("%s is read", (url, server) => {
    expect(read({ SMTP_URL: url }).smtp).toEqual(server);
  });

  test.each([
    "http://mail.example.com",
    "mail.example.com",
    "smtp://",
    "smtp:///path",
    "smtp://mail.example.com/inbox",
    "smtp://mail.example.com?ignoreTLS=true",
    "smtp://secret@mail.example.com",
    "smtp://:secret@mail.example.com",
    "smtp://ann:secret%zz@mail.example.com",
    "smtp://ann:secret@mail.example.com:0",
    "smtp://ann:secret@mail example.com",
    "smtp://localhost.evil.example%00",
  ])("%s is refused, and not repeated", (url) => {
    const error = (() => {
      try {
        read({ SMTP_URL: url });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toMatch(/^SMTP_URL: must /);
    expect((error as Error).message).not.toContain("secret");
  });

  test("is not needed", () => {
    expect(read({}).smtp).toBeUndefined();
    expect(read({ SMTP_URL: "" }).smtp).toBeUndefined();
  });
});

describe("MAIL_FROM", () => {
  test.each([
    ["", { name: "Weir", address: "weir@localhost" }],
    ["noreply@example.com", { name: "", address: "noreply@example.com" }],
    ['"Acme, Größe" <a.b+c@example.com> ', { name: "Acme, Größe", address: "a.b+c@example.com" }],
  ])("%j is read", (text, mailbox) => {
    expect(read({ MAIL_FROM: text }).mailFrom).toEqual(mailbox);
  });

  test.each([
    "Weir",
    "a@b@c.example",
    "A <a@example.com>, B <b@example.com>",
    "A\r\nBcc: x <a@example.com>",
    `${"a".repeat(400)}@example.com`,
  ])("%j is refused", (text) => {
    expect(() => read({ MAIL_FROM: text })).toThrow(/^MAIL_FROM: must be an address/);
  });
});
