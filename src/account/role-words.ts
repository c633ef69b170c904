/** One sentence for each role: what it may do. The page of an invitation shows it. The console has the same sentences, and a test compares both. */
import type { Role } from "./roles.ts";

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: "may do everything, and alone hands the organisation over, closes it and has it erased",
  admin:
    "may do everything but close, erase or hand over the organisation: people, projects, keys, money, settings, audit",
  billing: "works with money and nothing else: credit, top-ups, invoices and tax details",
  member: "works with models: makes keys and policies, tries models, and reads usage, credit and settings",
  viewer: "reads usage, requests, keys, policies and credit, and changes nothing",
};
