/** Mails that are written instead of sent, and the pages that show them. */
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readEml } from "../../../../src/account/mail/eml.ts";
import { MailFolder } from "../../../../src/account/mail/folder-transport.ts";
import { mailOperations } from "../../../../src/account/mail/operations.ts";
import { ticketDecided } from "../../../../src/account/mail/templates/ticket-decided.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import { isFromThisMachine } from "../../../../src/base/network/local-request.ts";
import { FullAnswer } from "../../../../src/base/operation/answer.ts";
import type { HttpHead } from "../../../../src/base/operation/http-head.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { processorMs } from "../../../support/processor-time.fixtures.ts";
import { FROM, mailRig, writtenMails } from "./fixtures.ts";

const rig = mailRig();

const EVIL = "<script>alert(1)</script> \"quoted\" & 'more'";
const decision = {
  id: "tkt_1",
  status: "rejected",
  subject: EVIL,
  created_by: "",
  answer: "No.\n<b>Never",
} as const;
const ask = (subject: string = EVIL) =>
  rig.store.act(() =>
    rig.mail.put(ticketDecided, {
      orgId: rig.org.id,
      to: "ann@acme.example",
      data: { ...decision, subject },
    }),
  );

const id = (i: number) => `job_01J${String(i).padStart(23, "0")}`;
const message = (i: number, orgId = "org_a") => ({
  id: id(i),
  orgId,
  createdAtMs: i,
  from: FROM,
  to: "ann@acme.example",
  subject: `Number ${i}`,
  text: "Hi",
  html: "<p>Hi",
});

describe("the folder", () => {
  test("holds a whole mail that only its owner may read", async () => {
    await ask("größer — अधिक");
    const [written] = await writtenMails(rig);
    const folder = join(rig.dataDir, "mail");
    const names = readdirSync(folder);
    expect(names).toEqual([expect.stringMatching(/^job_[0-9A-Z]{26}\.eml$/)]);
    expect(statSync(join(folder, names[0] ?? "")).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(written).toMatch(/\r\n\r\n/);
    expect(written).not.toMatch(/[^\r]\n/);
    const mail = readEml(Buffer.from(written ?? "", "latin1"));
    expect(mail).toMatchObject({
      subject: "Your request was rejected: größer — अधिक",
      to: "ann@acme.example",

      date: "Wed, 09 Sep 2026 10:00:00 +0000",
      messageId: `<${names[0]?.slice(0, -4)}@gateway.example>`,
    });
    expect(mail.text).toContain("Request: größer — अधिक\n");
    expect(mail.text).toContain("> No.\n> <b>Never\n");
    expect(mail.html).toContain(">größer — अधिक</td>");
  });

  test("keeps the newest mails, and nothing of a mail that is written again", async () => {
    const folder = new MailFolder(rig.dataDir, 3);
    mkdirSync(join(rig.dataDir, "mail"));
    writeFileSync(join(rig.dataDir, "mail", "notes.txt"), "mine");
    writeFileSync(join(rig.dataDir, "mail", `${id(9)}.part`), "a draft of a killed process");
    chmodSync(join(rig.dataDir, "mail", `${id(9)}.part`), 0o644);
    await Promise.all([1, 2, 3, 4, 9, 5].map((i) => folder.send(message(i))));
    await folder.send(message(9));
    expect(await folder.names()).toEqual([9, 5, 4].map((i) => `${id(i)}.eml`));
    expect(statSync(join(rig.dataDir, "mail", `${id(9)}.eml`)).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(rig.dataDir, "mail"))).toContain("notes.txt");
  });

  test("loses an org's mails with its drafts and those of which nobody can tell, and keeps those of others", async () => {
    const folder = new MailFolder(rig.dataDir);
    const path = (name: string) => join(rig.dataDir, "mail", name);
    await folder.send(message(1));
    await folder.send(message(2, "org_b"));
    // What somebody wrote looks like the header.
    await folder.send({
      ...message(3),
      subject: "a\r\nX-Weir-Org: org_b",
      text: "X-Weir-Org: org_b\r\n\r\n",
    });
    await folder.send({ ...message(4, ""), text: "X-Weir-Org: org_b" });
    writeFileSync(path(`${id(5)}.part`), "a draft of a killed process");
    writeFileSync(path("notes.txt"), "mine");
    await folder.erase("org_a");
    expect(readdirSync(join(rig.dataDir, "mail")).sort()).toEqual([`${id(2)}.eml`, "notes.txt"]);
    expect((await folder.read(`${id(2)}.eml`))?.toString()).toContain("X-Weir-Org: org_b\r\n");
  });

  test.each(["../journal/x", "job_1", `${id(1)}.eml`, "", "notes"])(
    "reads no other file: %j",
    async (name) => {
      const folder = new MailFolder(rig.dataDir);
      await folder.send(message(1));
      expect(await folder.read(`${name}.eml`)).toBeUndefined();
      expect(await folder.read(`${id(1)}.eml`)).toBeDefined();
    },
  );
});

describe("/dev/mail", () => {
  const head = (headers: Record<string, string>): HttpHead => ({
    header: (name) => headers[name] ?? "",
    cookie: () => undefined,
    address: "127.0.0.1",
    isFromThisMachine: isFromThisMachine({
      peer: "127.0.0.1",
      host: headers.host ?? "",
      names: Object.keys(headers),
    }),
  });
  const LOCAL = head({ host: "localhost:8787" });
  const asked = async (path: string | undefined, { isLocalOnly = true, from = LOCAL } = {}) => {
    const ops = mailOperations({ folder: rig.mail.folder, isLocalOnly });
    const none = { query: undefined, body: undefined };
    const answer =
      path === undefined
        ? await ops.listDevMail.run({ ...none, params: undefined }, {} as Caller, from)
        : await ops.getDevMail.run({ ...none, params: { id: path } }, {} as Caller, from);
    if (!(answer instanceof FullAnswer)) throw new Error("no page");
    return { headers: answer.parts.headers ?? {}, page: String(answer.content.bytes?.body) };
  };

  test("lists mails, newest first, and shows one, with everything in it escaped", async () => {
    expect((await asked(undefined)).page).toContain("No mail was written yet");
    await ask();
    await rig.idle();
    rig.clock.advance(5);
    await ask("second");
    await rig.idle();
    const { page, headers } = await asked(undefined);
    expect(page.indexOf("second")).toBeLessThan(page.indexOf("&lt;script&gt;"));
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none';/);
    const [, path = ""] = /href="\/dev\/mail\/(job_\w+)"><bdi>[^<]*script/.exec(page) ?? [];
    const shown = (await asked(path)).page;
    for (const text of [page, shown]) expect(text).not.toContain("<script");
    expect(shown).toContain('sandbox="allow-top-navigation-by-user-activation"');
    // Escaped once in the mail, and once more in the attribute that holds the mail.
    expect(shown).toContain("&amp;lt;script&amp;gt;");
  });

  test.each([
    ["where others reach the gateway", { isLocalOnly: false }],
    ["under another name", { from: head({ host: "evil.example" }) }],
    ["under a name that begins like this machine's", { from: head({ host: "localhost.evil.example" }) }],
    ["without a name", { from: head({}) }],
    ["behind a proxy", { from: head({ host: "localhost", "x-forwarded-for": "203.0.113.7" }) }],
  ])("is refused %s", async (_, how) => {
    await ask();
    await rig.idle();
    const [name = ""] = (await rig.mail.folder?.names()) ?? [];
    for (const path of [undefined, name.slice(0, -4)]) {
      const error = await asked(path, how).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(WeirError);
      expect((error as WeirError).status).toBe(404);
    }
  });
});

describe("reading a mail", () => {
  test.each([
    "",
    "no header",
    "content-type: multipart/alternative\r\n\r\n",
    "\r\n\r\n",
    "a\r\n".repeat(1000),
  ])("is safe with what is none: %j", (text) => {
    expect(readEml(Buffer.from(text))).toMatchObject({ subject: "", text: "", html: "" });
  });

  test("takes linear time", () => {
    const hostile = [
      `content-type: multipart/alternative; boundary="a"\r\n\r\n${"\r\n--a".repeat(100_000)}`,
      `subject: ${"=?utf-8?q?".repeat(100_000)}\r\n\r\n`,
      `subject: ${"?= ".repeat(200_000)}\r\n\r\n`,
      `content-transfer-encoding: quoted-printable\r\n\r\n${"=\r\n".repeat(200_000)}`,
    ];
    const tookMs = processorMs(() => {
      for (const text of hostile) readEml(Buffer.from(text));
    });
    expect(tookMs).toBeLessThan(3000);
  });
});
