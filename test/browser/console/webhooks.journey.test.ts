/** A webhook is made and tested; its receiver, a real server, fails and is mended; what failed is sent again; the secret is rotated; it is deleted. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { until } from "../../support/wait.ts";
import {
  answering,
  fault,
  type Received,
  type Receiver,
  startReceiver,
} from "../../support/webhooks/receiver.ts";

const world = consoleWorld();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const last = (): Received => receiver.received.at(-1) as Received;

test("made, tested, failing, mended, sent again, rotated, paused, deleted", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  const storeSecret = async () => {
    const dialog = page.getByRole("dialog", { name: "The secret of" });
    const secret = (await dialog.locator("code").textContent()) ?? "";
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    return secret;
  };
  const panel = (title: string) => page.getByRole("region", { name: title, exact: true });
  const makeKey = (name: string) =>
    world.gateway.call("POST", "/v1/keys", { body: { name, scopes: ["inference"] } });

  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Webhooks" }).click();
  await page.getByText("There is no webhook yet.").waitFor();
  await page.getByRole("button", { name: "New webhook" }).first().click();
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByText("Give an address that begins with https://").waitFor();
  await page.getByLabel("Address").fill(receiver.url);
  await page.getByLabel("Name").fill("Back office");
  await page.getByLabel("What it hears of").selectOption({ label: "Only what is chosen below" });
  await page.getByText("Choose at least one").waitFor();
  await page.getByLabel("A key was made").check();
  await page.getByRole("button", { name: "Create webhook" }).click();
  const first = await storeSecret();
  expect(first).toMatch(/^whsec_/);
  await page.getByRole("heading", { name: "Back office", level: 1 }).waitFor();
  const webhook = page.url();

  // The receiver fails: the delivery says so, and shows what was sent.
  receiver.answer = answering(500, { "x-inner": "words" }, "the database is away");
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The receiver answered 500; what is not 200 to 299 counts as failed.").waitFor();
  expect(fault(last(), first)).toBe("");
  const sent = panel("What was sent");
  await sent.getByText(last().headers["webhook-id"] as string, { exact: true }).waitFor();
  await sent.getByText(last().headers["webhook-signature"] as string).waitFor();
  await sent.getByRole("button", { name: "Byte for byte" }).click();
  expect(await sent.locator("pre").textContent()).toBe(last().body);
  // What this machine says is never shown to a tenant, and the page says why.
  await panel("What came back")
    .getByText(/^Only the status is shown\./)
    .waitFor();
  expect(await panel("Tries").getByRole("row").count()).toBe(2);
  expect(await cutOff(page)).toEqual([]);

  // Mended, it takes the same event.
  receiver.answer = answering(204);
  const failed = page.url();
  await page.getByRole("button", { name: "Send again" }).click();
  await page.waitForURL((url) => url.href !== failed);
  await panel("Outcome").getByText("delivered", { exact: true }).waitFor();
  const [before, after] = receiver.received;
  expect([after?.headers["webhook-id"], after?.body]).toEqual([before?.headers["webhook-id"], before?.body]);

  // An event of its own is tried again by itself, or at once where somebody asks for it.
  receiver.answer = answering(503, { "retry-after": "600" });
  await makeKey("Nightly job");
  await until("it was tried", () => receiver.received.length === 3);
  await page.goto(webhook);
  await page.getByText(/^It has taken nothing since/).waitFor();
  await panel("Deliveries").getByLabel("Status").selectOption("pending");
  const waiting = panel("Deliveries").getByRole("row").filter({ hasText: "answered 503" });
  await waiting.getByRole("link").click();
  await page.getByText('"name": "Nightly job"').waitFor();
  receiver.answer = answering(204);
  await page.getByRole("button", { name: "Try now" }).click();
  await panel("Outcome").getByText("delivered", { exact: true }).waitFor();
  expect(await panel("Tries").getByRole("row").count()).toBe(3);

  // The event is among those that happened, and leads to its deliveries.
  await panel("Outcome").getByRole("link").click();
  await page.getByRole("heading", { name: "A key was made", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Back office" }).click();
  await page.waitForURL("**/webhooks/whk_*?event=evt_*");
  const deliveries = panel("Deliveries");
  await deliveries.getByText("answered 204").waitFor();
  expect(await deliveries.getByRole("row").count()).toBe(2);
  await deliveries.getByRole("button", { name: /^Remove the filter Event/ }).click();
  await deliveries.getByText("answered 500").waitFor();

  // Both secrets sign for a while.
  await page.getByRole("button", { name: "Rotate secret" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
  const second = await storeSecret();
  expect(second).not.toBe(first);
  await page.getByText(/^The secret before signs too, until/).waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  await panel("Outcome").getByText("delivered", { exact: true }).waitFor();
  expect([first, second].map((secret) => fault(last(), secret))).toEqual(["", ""]);

  // Changed, paused, resumed.
  await page.getByRole("link", { name: "The webhook and its deliveries" }).click();
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("Name").fill("Front office");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("heading", { name: "Front office", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Pause webhook" }).click();
  await page.getByText("Somebody of the organisation paused it.").waitFor();
  const taken = receiver.received.length;
  await makeKey("Unheard");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await panel("Outcome").getByText("delivered", { exact: true }).waitFor();
  expect(receiver.received.slice(taken).map(({ body }) => JSON.parse(body).type)).toEqual(["webhook.test"]);

  await page.getByRole("link", { name: "The webhook and its deliveries" }).click();
  await page.getByRole("button", { name: "Delete webhook" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete webhook" }).click();
  await page.getByText("There is no webhook yet.").waitFor();
  await page.getByRole("link", { name: "Events" }).last().click();
  await page.getByRole("row").filter({ hasText: "webhook.test" }).first().waitFor();
  await untilShown(page);
  expect(ada.told).toEqual([]);
  expectActs("webhooks", ada);
});

test("what a receiver on the internet says is shown, and is text", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  receiver.answer = answering(500);
  const { json: made } = await ada.call("POST", "/v1/webhooks", { body: { url: receiver.url } });
  const { json: sent } = await ada.call("POST", `/v1/webhooks/${made.id}/test`, { body: {} });
  const path = `/v1/webhooks/${made.id}/deliveries/${sent.id}`;
  await until("it has ended", async () => (await ada.call("GET", path)).json.status === "failed");
  const hostile = `<img src=x onerror="document.title='owned'"> is no JSON {`;
  await page.route(`**${path}`, async (route) => {
    const answer = await (await route.fetch()).json();
    const said = { response: hostile, response_headers: { server: hostile, "content-type": "text/html" } };
    await route.fulfill({ json: { ...answer, ...said } });
  });
  await ada.open(`first/webhooks/${made.id}/deliveries/${sent.id}`);
  const came = page.getByRole("region", { name: "What came back", exact: true });
  expect(await came.locator("pre").textContent()).toBe(hostile);
  expect(await came.locator("dd").getByText(hostile).count()).toBe(1);
  expect(await came.getByText("Only the status is shown").count()).toBe(0);
  expect(await page.locator("main img").count()).toBe(0);
  expect(await page.title()).toBe("A test that somebody sent · Weir");
  expect(await cutOff(page)).toEqual([]);
  expect(ada.told).toEqual([]);
});
