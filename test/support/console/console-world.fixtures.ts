/** A gateway with analytics, and a browser in front of it: what most tests of the console begin with. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type GatewayOptions, type TestGateway, testGateway } from "../gateway.ts";
import { CHROMIUM, type ConsoleBrowser, NO_BROWSER, openBrowser } from "./browser.fixtures.ts";

/** Both are there before the first test. */
export interface ConsoleWorld {
  gateway: TestGateway;
  browser: ConsoleBrowser;
}

/** To be called at the head of a file, whose tests are skipped where there is no browser. @param options of the gateway, beside analytics */
export function consoleWorld(options: () => Promise<GatewayOptions> = async () => ({})): ConsoleWorld {
  const world = {} as ConsoleWorld;
  beforeAll(async () => {
    if (CHROMIUM === undefined) return;
    world.gateway = await testGateway({ engine: true, ...(await options()) });
    world.browser = await openBrowser(world.gateway.url);
  });
  afterAll(async () => {
    await world.browser?.close();
    await world.gateway?.stop();
  });
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER));
  return world;
}
