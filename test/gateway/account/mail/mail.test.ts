/** A whole gateway that invites people: over SMTP, and into its folder, from where a click leads to the invitation. */
import { afterEach, describe, expect, test } from "vitest";
import { check } from "../../../../src/host/commands/check.ts";
import { type GatewayOptions, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { headerOf, SmtpStandIn } from "../../../support/mail/smtp-server.ts";
import { until } from "../../../support/wait.ts";

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function started(options: GatewayOptions = {}): Promise<TestGateway> {
  const gateway = await testGateway(options);
  open.push(gateway);
  return gateway;
}

/** By a key of the org that may change it. */
async function invite(gateway: TestGateway, email: string) {
  const scopes = ["read:org", "write:org"];
  const made = await gateway.call("POST", "/v1/keys", { body: { name: "admin", scopes } });
  const key = made.json.secret;
  const [org] = (await gateway.call("GET", "/v1/orgs", { key })).json.data;
  const invited = await gateway.call("POST", `/v1/orgs/${org.id}/members`, { key, body: { email } });
  expect(invited.status).toBe(201);
}

const page = (gateway: TestGateway, path: string, headers = {}) =>
  gateway.call("GET", path, { key: null, headers: { host: new URL(gateway.url).host, ...headers } });

describe("without an SMTP server", () => {
  test("an invitation can be read at /dev/mail, and its link begins a sign-in that comes back to it", async () => {
    const gateway = await started();
    await invite(gateway, "new@partner.example");
    await until("it is listed", async () => /job_/.test((await page(gateway, "/dev/mail")).text));
    const list = await page(gateway, "/dev/mail");
    expect(list.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(list.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(list.headers.get("cache-control")).toBe("no-store");
    const [, path = ""] = /href="(\/dev\/mail\/job_\w+)"/.exec(list.text) ?? [];
    const mail = await page(gateway, path);
    const [, link = ""] = /<a href="(http[^"]*\/auth\/invitations\/ivt_\w{26})"/.exec(mail.text) ?? [];
    expect(link.startsWith(gateway.url)).toBe(true);
    const own = link.slice(gateway.url.length);
    const shown = await page(gateway, own);
    const login = `/auth/login?${new URLSearchParams({ return_to: own })}`;
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(`href="${login}"`)]);
    const answer = await page(gateway, login);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toContain("code_challenge");
    expect((await page(gateway, "/dev/mail/none")).status).toBe(404);
    expect((await page(gateway, "/dev/mail", { host: "evil.example" })).status).toBe(404);
  });

  test("others see none where they reach the gateway", async () => {
    const gateway = await started({ env: { PUBLIC_URL: "https://gateway.example" } });
    await invite(gateway, "new@partner.example");
    for (const path of ["/dev/mail", "/dev/mail/job_01J00000000000000000000000"]) {
      const answer = await page(gateway, path);
      expect([answer.status, answer.json.error.code]).toEqual([404, "not_found"]);
    }
  });
});

test("with one, an invitation goes there, and leads to the public address", async () => {
  const server = new SmtpStandIn();
  await server.listen();
  open.push({ stop: () => server.close() });
  const env = {
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: "Acme <noreply@acme.example>",
    PUBLIC_URL: "https://gateway.example",
  };
  const gateway = await started({ env });
  await invite(gateway, "new@partner.example");
  await until("it came", () => server.received.length === 1);
  const [mail] = server.received;
  expect(mail?.to).toEqual(["<new@partner.example>"]);
  const data = mail?.data.replaceAll("=\r\n", "") ?? "";
  expect(headerOf(data, "from")).toBe("Acme <noreply@acme.example>");
  expect(data).toContain("https://gateway.example/auth/invitations/ivt_");
  expect((await page(gateway, "/dev/mail")).status).toBe(404);
});

test("weir check says where mails go, and no password", async () => {
  const said = async (env: Record<string, string>) => {
    const lines: string[] = [];
    await check({ ...env, PORT: "0", CLICKHOUSE_URL: "http://127.0.0.1:1", DATA_DIR: "/nowhere" }, (line) =>
      lines.push(line),
    );
    return lines.join("\n");
  };
  expect(await said({})).toContain("mail           no SMTP_URL, so mails are written to /nowhere/mail");
  const text = await said({ SMTP_URL: "smtps://ann:secret@mail.example.com" });
  expect(text).toContain("smtps://mail.example.com:465, with a password, from weir@localhost");
  expect(text).toContain("set PUBLIC_URL");
  expect(text).not.toContain("secret");
});
