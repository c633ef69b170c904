/** A walk over the views of the console, by somebody of a role: what is wrong with each, and whether the role meets what it may open. */
import type { Page } from "playwright-core";
import { ROLE_OPENS, ROLE_SCOPES, ROUTES } from "../../../console/api/operations.ts";
import type { Samples } from "../../../scripts/screens/samples.ts";
import { addressOf, isOfOperator, shownBy, VIEWS, type View } from "../../../scripts/screens/views.ts";
import { begin, ORG } from "../../../scripts/screens/walk.ts";
import { untilShown, type WatchedPage } from "./browser.fixtures.ts";
import { accessFaults, cutOff, headingFaults } from "./faults.fixtures.ts";

type Role = keyof typeof ROLE_OPENS;
/** Somebody with a role in the org, or an operator who is in none. */
export type Walker = Role | "operator";

/** In the place of an org's slug. */
const OPERATOR = "operator";

/** What a page says, and no other, where the role does not open it. */
const NOT_OPEN = "Not open to your role";

/** Whether somebody may call all that a view needs. Whoever is in no org opens what is about the installation, and no page of an org. */
function isOpen(view: View, walker: Walker): boolean {
  const { needs = [], readsPayloads = false } = view;
  if (walker === "operator") return isOfOperator(view) || needs.length === 0;
  return (
    !isOfOperator(view) &&
    (!readsPayloads || ROLE_SCOPES[walker].some((scope) => scope === "read:payloads")) &&
    needs.every((name) => {
      const [, person = ""] = ROUTES[name][2].split(" / ");
      return ROLE_OPENS[walker].some((level) => level === person);
    })
  );
}

/** What somebody walks: an operator what is about the installation; others all, of what they do not open its pages alone. */
export const viewsFor = (walker: Walker): readonly View[] =>
  VIEWS.filter((view) =>
    walker === "operator" ? isOfOperator(view) : !isOfOperator(view) || view.click === undefined,
  );

let before: Promise<unknown> = Promise.resolve();

/** Runs what several walks do once those before are over, whatever came of them. */
function oneByOne<T>(act: () => Promise<T>): Promise<T> {
  const mine = before.then(act);
  before = mine.catch(() => undefined);
  return mine;
}

export class Walk {
  readonly #page: Page;
  readonly #told: string[];
  readonly #url: string;
  readonly #samples: Samples;
  readonly #walker: Walker;
  /** The place that the console shows: `/console/first`. Empty: the next view is loaded as a whole, for what the last one has open would stay. */
  #place = "";

  constructor({ page, told }: WatchedPage, url: string, samples: Samples, walker: Walker) {
    this.#page = page;
    this.#told = told;
    this.#url = url;
    this.#samples = samples;
    this.#walker = walker;
  }

  /** Goes to a view. @returns what is wrong with it, each with its name */
  async to(view: View): Promise<readonly string[]> {
    return view.isOneAtATime === true ? await oneByOne(() => this.#to(view)) : await this.#to(view);
  }

  async #to(view: View): Promise<readonly string[]> {
    await this.#go(view);
    const wrong = isOpen(view, this.#walker) ? await this.#openView(view) : await this.#closedView(view);
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
    const [, root, name, ...page] = address.split("/");
    const place = root === "console" && page.length > 0 ? `/${root}/${name}` : "";
    const isByHand = view.press !== undefined || view.click !== undefined;
    if (place === "" || place !== this.#place || isByHand) await this.#page.goto(this.#url + address);
    else await this.#page.evaluate(FOLLOW(address));
    this.#place = isByHand ? "" : place;
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
      if (path === `/console/${ORG}` || path === `/console/${OPERATOR}`) return [];
      const views = viewsAt(path);
      if (views.length === 0) return [`links to ${path}, which no view shows`];
      return views.some((view) => isOpen(view, this.#walker)) ? [] : [`links to ${path}, which is not open`];
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
