/** Mails over SMTP: a real server that takes them, refuses them, or is away. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SmtpServer } from "../../../../src/account/mail/settings.ts";
import { smtpTransport } from "../../../../src/account/mail/smtp-transport.ts";
import { ticketDecided } from "../../../../src/account/mail/templates/ticket-decided.ts";
import { headerOf, SmtpStandIn } from "../../../support/mail/smtp-server.ts";
import { until } from "../../../support/wait.ts";
import { FROM, mailRig } from "./fixtures.ts";

let server: SmtpStandIn;
let port: number;
beforeEach(async () => {
  server = new SmtpStandIn();
  await server.listen();
  port = server.port;
});
afterEach(() => server.close());

const LOCAL = { host: "127.0.0.1", isTls: false, isLoopback: true, user: "", password: "" };
const settings = (): SmtpServer => ({ ...LOCAL, port });
const rig = mailRig(settings);

const decision = {
  id: "tkt_1",
  status: "approved",
  subject: "120 requests a minute",
  created_by: "",
} as const;
const ask = (to = "ann@acme.example", subject: string = decision.subject) =>
  rig.store.act(() => rig.mail.put(ticketDecided, { orgId: rig.org.id, to, data: { ...decision, subject } }));
const receivedIs = (count: number) => until(`${count} came`, () => server.received.length === count);
const givenUp = () => [...rig.jobs.givenUp()].map(({ kind, error }) => [kind, error]);

describe("a mail", () => {
  test("goes to its one receiver, marked as automatic, with a Message-ID of its job", async () => {
    await ask();
    await receivedIs(1);
    const [mail] = server.received;
    expect([mail?.from, mail?.to]).toEqual(["<weir@gateway.example>", ["<ann@acme.example>"]]);
    const data = mail?.data ?? "";
    expect(headerOf(data, "message-id")).toMatch(/^<job_[0-9A-Z]{26}@gateway\.example>$/);
    expect(headerOf(data, "auto-submitted")).toBe("auto-generated");
    expect(headerOf(data, "date")).toBe("Wed, 09 Sep 2026 10:00:00 +0000");
    expect(headerOf(data, "from")).toBe("Weir <weir@gateway.example>");
    await rig.idle();
    expect(givenUp()).toEqual([]);
  });

  test("is not put where its act fails", async () => {
    const act = rig.store.act(() => {
      rig.mail.put(ticketDecided, { orgId: rig.org.id, to: "ann@acme.example", data: decision });
      throw new Error("no");
    });
    await expect(act).rejects.toThrow("no");
    await ask("bob@acme.example");
    await rig.idle();
    expect(server.received.map(({ to }) => to)).toEqual([["<bob@acme.example>"]]);
  });

  test.each(["MAIL", "RCPT", "MESSAGE"] as const)(
    "is sent again after a 4xx to %s, with the same Message-ID",
    async (verb) => {
      server.answers[verb] = ["451 not now"];
      await ask();
      await until("it was refused", () => rig.failures.length === 1);
      expect(rig.failures[0]).toContain("451 not now");
      await until("it waits", () => rig.jobs.metrics().running === 0);
      rig.advance(60_000);
      const tries = verb === "MESSAGE" ? 2 : 1;
      await receivedIs(tries);
      await rig.idle();
      expect(server.received).toHaveLength(tries);
      expect(new Set(server.received.map(({ data }) => headerOf(data, "message-id"))).size).toBe(1);
    },
  );

  test.each(["MAIL", "RCPT", "DATA", "MESSAGE"] as const)(
    "is given up at once after a 5xx to %s, for an operator to see",
    async (verb) => {
      server.answers[verb] = ["550 5.1.1 no such mailbox"];
      await ask();
      await until("it was given up", () => rig.jobs.metrics().givenUp === 1);
      expect(givenUp()).toEqual([["mail.send", expect.stringContaining("550 5.1.1 no such mailbox")]]);
      expect(rig.failures.at(-1)).toMatch(/^mail job_\w+ \(ticket_decided\) was given up: /);
      rig.advance(86_400_000);
      await rig.idle();
      expect(server.received.length).toBe(verb === "MESSAGE" ? 1 : 0);
    },
  );

  test("waits where the server wants another sign-in: the settings are wrong, not the mail", async () => {
    server.answers.MAIL = ["530 5.7.0 authentication required"];
    await ask();
    await until("it was refused", () => rig.failures.length === 1);
    rig.advance(60_000);
    await receivedIs(1);
    expect(rig.jobs.metrics().givenUp).toBe(0);
  });

  test("waits while the server is away, and goes out once it is back", async () => {
    await server.close();
    await ask();
    await until("it was tried", () => rig.failures.length >= 1);
    expect(rig.failures[0]).toContain("ECONNREFUSED");
    server = new SmtpStandIn();
    await server.listen(port);
    await until("it waits", () => rig.jobs.metrics().running === 0);
    rig.advance(60_000);
    await receivedIs(1);
  });

  test("is tried for about two days, then given up", async () => {
    await server.close();
    await ask();
    const from = rig.clock.now();
    await until("it was given up", () => {
      if (rig.jobs.metrics().running === 0) rig.advance(1_800_000);
      return rig.jobs.metrics().givenUp === 1;
    });
    const hours = (rig.clock.now() - from) / 3_600_000;
    expect(hours).toBeGreaterThan(40);
    expect(hours).toBeLessThan(65);
    server = new SmtpStandIn();
    await server.listen(port);
  });

  test("that takes the server too long is tried again", async () => {
    server.answers.MESSAGE = ["silence"];
    await ask();
    await receivedIs(1);
    rig.advance(120_000);
    await until("it was left", () => rig.failures.length === 1);
    await until("it waits", () => rig.jobs.metrics().running === 0);
    rig.advance(60_000);
    await receivedIs(2);
  });

  test("on its way when the process stops is sent after the next start, and its try does not count", async () => {
    server.answers.MESSAGE = ["silence"];
    await ask();
    await receivedIs(1);
    const restarted = rig.restart();
    rig.advance(5000);
    await restarted;
    rig.advance(0);
    await receivedIs(2);
    const [first, second] = server.received.map(({ data }) => headerOf(data, "message-id"));
    expect(second).toBe(first);
  });
});

describe("what people write", () => {
  test("adds no header and no receiver", async () => {
    await ask("ann@acme.example", "Hi\r\nBcc: eve@evil.example\r\n\r\nbody\u2028x");
    await receivedIs(1);
    const [mail] = server.received;
    expect(mail?.to).toEqual(["<ann@acme.example>"]);
    expect(headerOf(mail?.data ?? "", "bcc")).toBeUndefined();
    expect(headerOf(mail?.data ?? "", "subject")).toBe(
      "Your request was approved: Hi Bcc: eve@evil.example body x",
    );
    expect(server.lines.filter((line) => line.startsWith("RCPT"))).toHaveLength(1);
  });

  test.each([
    "ann@acme.example\r\nBcc: eve@evil.example",
    "ann@acme.example, eve@evil.example",
    "Ann <ann@acme.example>",
    "ann",
    "",
  ])("is no address: %j", async (to) => {
    await expect(ask(to)).rejects.toThrow();
  });

  test("may be of any script", async () => {
    await ask("ann@acme.example", "अधिक सीमा — größer");
    await receivedIs(1);
    const subject = headerOf(server.received[0]?.data ?? "", "subject") ?? "";
    expect(subject).toMatch(/^[\x20-\x7e]+$/);
    expect(subject).toMatch(/=\?UTF-8\?/);
  });
});

describe("a connection", () => {
  const one = (smtp: SmtpServer) => {
    const transport = smtpTransport(smtp, (error) => void rig.failures.push(String(error)));
    const message = {
      id: "job_1",
      orgId: "org_a",
      createdAtMs: 0,
      from: FROM,
      to: "ann@acme.example",
      subject: "Hi",
    };
    const sent = transport.send({ ...message, text: "Hi", html: "<p>Hi" }, new AbortController().signal);
    return sent.finally(() => transport.close());
  };

  test("to another machine hands over nothing without TLS", async () => {
    const sent = one({ ...settings(), isLoopback: false, user: "ann", password: "secret" });
    await expect(sent).rejects.toThrow("STARTTLS: 502");
    expect(server.lines.filter((line) => /^(AUTH|MAIL)/.test(line))).toEqual([]);
  });

  test("signs in where the settings say so, and tells no password in its errors", async () => {
    server.extensions = ["AUTH PLAIN"];
    await one({ ...settings(), user: "ann", password: "p@ss" });
    expect(server.received[0]?.signedIn).toBe("\0ann\0p@ss");
    server.answers.AUTH = ["535 wrong"];
    const refused = await one({ ...settings(), user: "ann", password: "p@ss" }).catch(String);
    expect(refused).toContain("535 wrong");
    expect(refused).not.toContain("p@ss");
  });

  test("is kept for the next mail", async () => {
    await ask();
    await receivedIs(1);
    await rig.idle();
    await ask();
    await receivedIs(2);
    expect(server.lines.filter((line) => line.startsWith("EHLO"))).toHaveLength(1);
  });
});
