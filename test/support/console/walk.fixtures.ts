/** A walk over the views of the console, by somebody of a role: what is wrong with each, and whether the role meets what it may open. */
import type { Page } from "playwright-core";
import { ROLE_OPENS, ROLE_SCOPES, ROUTES } from "../../../console/api/operations.ts";
import type { Samples } from "../../../scripts/screens/samples.ts";
import { addressOf, shownBy, VIEWS, type View } from "../../../scripts/screens/views.ts";
import { begin, ORG } from "../../../scripts/screens/walk.ts";
import { untilShown, type WatchedPage } from "./browser.fixtures.ts";
import { accessFaults, cutOff, headingFaults } from "./faults.fixtures.ts";

export type Role = keyof typeof ROLE_OPENS;

/** What a page says, and no other, where the role does not open it. */
const NOT_OPEN = "Not open to your role";

/** Whether a role may call all that a view needs. */
const isOpen = ({ needs = [], readsPayloads = false }: View, role: Role): boolean =>
  (!readsPayloads || ROLE_SCOPES[role].some((scope) => scope === "read:payloads")) &&
  needs.every((name) => {
    const [, person = ""] = ROUTES[name][2].split(" / ");
    return ROLE_OPENS[role].some((level) => level === person);
  });

export class Walk {
  readonly #page: Page;
  readonly #told: string[];
  readonly #url: string;
  readonly #samples: Samples;
  readonly #role: Role;
  /** The next view is loaded as a whole: the console is not there yet, or what the last view has open would stay. */
  #isLoadDue = true;

  constructor({ page, told }: WatchedPage, url: string, samples: Samples, role: Role) {
    this.#page = page;
    this.#told = told;
    this.#url = url;
    this.#samples = samples;
    this.#role = role;
  }

  /** Goes to a view. @returns what is wrong with it, each with its name */
  async to(view: View): Promise<readonly string[]> {
    await this.#go(view);
    const wrong = isOpen(view, this.#role) ? await this.#openView(view) : await this.#closedView(view);
    // What is told later is a fault of the next view.
    const told = this.#told.splice(0).filter((line) => !(view.isError === true && / 404 GET /.test(line)));
    const faults = [
      ...wrong,
      ...told,
      ...(await cutOff(this.#page)),
      ...(await headingFaults(this.#page)),
      ...(await accessFaults(this.#page)),
      ...(await this.#strayLinks()),
    ];
    return faults.map((fault) => `${view.name}: ${fault}`);
  }

  /** Within the console the address changes as by a link, and nothing is loaded anew. What is begun by hand begins with a page of its own. */
  async #go(view: View): Promise<void> {
    const address = addressOf(view, ORG, this.#samples);
    const isOther = !address.startsWith(`/console/${ORG}/`);
    const isByHand = view.press !== undefined || view.click !== undefined;
    if (this.#isLoadDue || isOther || isByHand) await this.#page.goto(this.#url + address);
    else await this.#page.evaluate(FOLLOW(address));
    this.#isLoadDue = isOther || isByHand;
    await untilShown(this.#page);
  }

  async #openView(view: View): Promise<readonly string[]> {
    await begin(this.#page, view);
    await this.#page.locator(shownBy(view)).first().waitFor();
    await untilShown(this.#page);
    return (await this.#saysNotOpen()) ? ["is not open, though the role may call all that it needs"] : [];
  }

  /** A view that a click opens is closed where nothing is there to click. */
  async #closedView({ click: [first] = [] }: View): Promise<readonly string[]> {
    await this.#page.locator("h1").waitFor();
    const isClosed =
      (await this.#saysNotOpen()) || (first !== undefined && (await this.#page.locator(first).count()) === 0);
    return isClosed ? [] : ["is open, though the role may not call all that it needs"];
  }

  async #saysNotOpen(): Promise<boolean> {
    return ((await this.#page.locator("main").textContent()) ?? "").includes(NOT_OPEN);
  }

  /** Links to what the role does not open, and to what no view shows. */
  async #strayLinks(): Promise<readonly string[]> {
    const paths = await this.#page.evaluate<string[]>(LINKS);
    return paths.flatMap((path) => {
      if (path === `/console/${ORG}`) return [];
      const views = viewsAt(path);
      if (views.length === 0) return [`links to ${path}, which no view shows`];
      return views.some((view) => isOpen(view, this.#role)) ? [] : [`links to ${path}, which is not open`];
    });
  }
}

/** As a link of the console does it; over once what is drawn by it has begun to ask. */
const FOLLOW = (address: string): string => `new Promise((done) => {
  history.pushState(null, "", ${JSON.stringify(address)});
  dispatchEvent(new PopStateEvent("popstate"));
  const frame = (then) => requestAnimationFrame(() => setTimeout(then));
  frame(() => frame(done));
})`;

const LINKS = `[...new Set(Array.from(document.querySelectorAll("a[href^='/console/']"), (link) => link.pathname))]`;

const ANY = "*";
/** A model's id is two segments of an address. */
const ANY_SAMPLES = new Proxy({} as Samples, {
  get: (_, name) => (name === "model" ? `${ANY}/${ANY}` : ANY),
});

const PLACES = VIEWS.map((view) => {
  const [path = ""] = addressOf(view, ORG, ANY_SAMPLES).split("?");
  return { view, path: path.split("/") };
});

/** Views at a path; where some are at exactly this one, those that are at any such path are left out. */
function viewsAt(path: string): readonly View[] {
  const segments = path.split("/");
  const near = PLACES.filter(
    (place) =>
      place.path.length === segments.length &&
      place.path.every((each, at) => each === ANY || each === segments[at]),
  );
  const exact = near.filter((place) => !place.path.includes(ANY));
  return (exact.length > 0 ? exact : near).map(({ view }) => view);
}
