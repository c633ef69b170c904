/**
 * A process of its own that starts the built-in identity provider, signs in and out, and closes it. It prints nothing: the
 * test sees whether something else did, and whether the process ends by itself.
 */
import * as client from "openid-client";
import { signIn, startApplication, startProviderFor } from "../../support/simulator/identity.fixtures.ts";

const application = await startApplication();
const provider = await startProviderFor(application);
const { browser, config, idToken, accessToken } = await signIn(provider.issuer, application);
const elsewhere = { authorization: `Bearer ${accessToken}`, origin: "http://elsewhere.example" };
const userInfo = await fetch(`${provider.issuer}/me`, { headers: elsewhere });
if (userInfo.headers.has("access-control-allow-origin"))
  throw new Error("another origin may read who signed in");
const page = await browser.visit(client.buildEndSessionUrl(config, { id_token_hint: idToken }));
const last = await browser.submit(page, { logout: "yes" });
if (!last.html.includes("You are signed out.")) throw new Error(`signed out to ${last.url}`);
await browser.visit(`${provider.issuer}/session/end/confirm`, new URLSearchParams({ xsrf: "wrong" }));
await Promise.all([provider.close(), application.close()]);
