/** Compares what the pages of a journey changed with what `JOURNEYS` says of it. */
import { expect } from "vitest";
import type { WatchedPage } from "./browser.fixtures.ts";
import { JOURNEYS, type Journey } from "./journeys.ts";

/** At the end of a journey. @param pages of everyone in it */
export function expectActs(journey: Journey, ...pages: readonly Pick<WatchedPage, "acts">[]): void {
  const listed: readonly string[] = JOURNEYS[journey];
  const made = pages.flatMap(({ acts }) => acts);
  const routesOf = (act: string) => listed.filter((route) => isOf(route, act));
  expect([...new Set(made.map((act) => routesOf(act)[0] ?? act))].sort()).toEqual([...listed].sort());
}

/** @param route with parameters in braces: `PATCH /v1/keys/{id}` */
function isOf(route: string, act: string): boolean {
  const wanted = route.split("/");
  const made = act.split("/");
  return (
    wanted.length === made.length && wanted.every((part, at) => part.startsWith("{") || part === made[at])
  );
}
