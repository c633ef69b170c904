/**
 * Sign-in at an OpenID provider that is not ours: the example server of zitadel/oidc, a certified implementation in Go, built
 * by the Go toolchain of this machine. It takes a minute to build at first, so only a thorough run does it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closedPort, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { httpCall } from "../../../support/http-client.ts";
import { Browser } from "../../../support/simulator/identity.fixtures.ts";
import { until } from "../../../support/wait.ts";

const SERVER = "github.com/zitadel/oidc/v3/example/server@v3.51.17";

const missing = whyNot();

function whyNot(): string | undefined {
  if (process.env.WEIR_THOROUGH === undefined) return "it is built in a thorough run only";
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "there is no Go toolchain here";
  }
}

describe.skipIf(missing !== undefined)(
  `another provider${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-provider-"));
    let provider: ChildProcess;
    let gateway: TestGateway;

    beforeAll(async () => {
      const env = { ...process.env, GOBIN: folder, CGO_ENABLED: "0" };
      execFileSync("go", ["install", SERVER], { env, stdio: "ignore", timeout: 300_000 });
      const [own, port] = [await closedPort(), await closedPort()];
      provider = spawn(join(folder, "server"), {
        env: { ...process.env, PORT: String(port), REDIRECT_URI: `http://127.0.0.1:${own}/auth/callback` },
        stdio: "ignore",
      });
      const issuer = `http://localhost:${port}/`;
      const isUp = async () =>
        (await httpCall("GET", `${issuer}.well-known/openid-configuration`).catch(() => undefined))
          ?.status === 200;
      await until("the provider is up", isUp);
      gateway = await testGateway({
        env: { PORT: String(own), OIDC_ISSUER: issuer, OIDC_CLIENT_ID: "web", OIDC_CLIENT_SECRET: "secret" },
      });
    });
    afterAll(async () => {
      await gateway?.stop();
      provider?.kill();
      rmSync(folder, { recursive: true });
    });

    test("signs a person in, with the address that it verified, and out again", async () => {
      const browser = new Browser();
      const away = await browser.visit(`${gateway.url}/auth/login`);
      const form = await browser.visit(away.url);
      const back = await browser.submit(form, { username: "test-user@localhost", password: "verysecure" });
      const home = await browser.visit(back.url);
      expect([home.status, home.html]).toEqual([200, expect.any(String)]);
      const me = JSON.parse(home.html);
      expect(me.user).toMatchObject({ email: "test-user@zitadel.ch", status: "active" });
      expect([me.orgs[0].slug, me.role]).toEqual(["first", "owner"]);
      const headers = { cookie: browser.cookiesFor("/"), "x-svc-csrf": me.csrf_token };
      const out = await httpCall("POST", `${gateway.url}/auth/logout`, { headers });
      expect(JSON.parse(out?.text ?? "").logout_url).toContain("/end_session?");
    });
  },
);
