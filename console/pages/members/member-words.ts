/** Words for members and invitations, and what is true of an org's people together. Pure. */
import type { Operations } from "../../api/operations.ts";
import { rank } from "./role-words.ts";

export type Member = Operations["listMembers"]["answer"]["data"][number];

export const STATUS_TONES = {
  active: "good",
  invited: "accent",
  lapsed: "warn",
  disabled: "bad",
} as const satisfies Readonly<Record<Member["status"], string>>;

export const STATUS_WORDS: Readonly<Record<Member["status"], string>> = {
  active: "active",
  invited: "invited",
  lapsed: "invitation over",
  disabled: "may not sign in",
};

export const nameOf = ({ name, email, user_id: id }: Member): string => name || email || id;

/** Whether somebody has not joined yet. */
export const isWaiting = ({ status }: Member): boolean => status === "invited" || status === "lapsed";

/** An org keeps an owner who has signed in: this is the only one. */
export const isLastOwner = (member: Member, all: readonly Member[]): boolean =>
  member.role === "owner" &&
  !all.some(
    (other) => other.user_id !== member.user_id && other.role === "owner" && other.status === "active",
  );

/** Members before who is invited, those with most to say first, then by name. */
export const inOrder = (all: readonly Member[]): readonly Member[] =>
  [...all].sort(
    (one, other) =>
      Number(isWaiting(one)) - Number(isWaiting(other)) ||
      rank(one.role) - rank(other.role) ||
      nameOf(one).localeCompare(nameOf(other)),
  );

/** Those of a role (empty: of any) whose name or address has a text. */
export function found(all: readonly Member[], text: string, role: string): readonly Member[] {
  const wanted = text.trim().toLowerCase();
  return all.filter(
    (member) =>
      (role === "" || member.role === role) &&
      `${member.name ?? ""} ${member.email}`.toLowerCase().includes(wanted),
  );
}
