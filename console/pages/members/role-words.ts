/** Roles in words, and which of them a person gives and takes. Pure. */
import { ROLE_OPENS } from "../../api/operations.ts";

export type Role = keyof typeof ROLE_OPENS;

/** The same words as on the page of an invitation. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: "may do everything, and alone hands the organisation over, closes it and has it erased",
  admin:
    "may do everything but close, erase or hand over the organisation: people, projects, keys, money, settings, audit",
  billing: "works with money and nothing else: credit, top-ups, invoices and tax details",
  member: "works with models: makes keys and policies, tries models, and reads usage, credit and settings",
  viewer: "reads usage, requests, keys, policies and credit, and changes nothing",
};

/** In the order of a form: the least first. */
const ROLES = ["viewer", "member", "billing", "admin", "owner"] as const satisfies readonly Role[];

/** As a sentence of its own. */
export const roleSentence = (role: Role): string => {
  const words = ROLE_WORDS[role];
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
};

/** Whether somebody gives and takes a role: no one does so with one that opens more than their own. */
export const mayGive = (own: Role | undefined, role: Role): boolean =>
  own !== undefined && ROLE_OPENS[role].every((level) => ROLE_OPENS[own].some((mine) => mine === level));

export const rolesToGive = (own: Role | undefined): readonly Role[] =>
  ROLES.filter((role) => mayGive(own, role));

/** Those with most to say first. */
export const rank = (role: Role): number => -ROLES.indexOf(role);
