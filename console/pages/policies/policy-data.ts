/** What all pages about one policy know: its versions, the projects of the org, and who people are. */
import { useAnswer } from "../../api/answers.ts";
import type { Answer, ApiError } from "../../api/call.ts";
import { mayCall, org } from "../../app/session.ts";

export type Version = Answer<"listPolicyVersions">["data"][number];

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: string;
}

/** Names of what the API tells ids of. */
export interface Known {
  readonly projects: readonly Project[];
  /** Those that calls can be made in. */
  readonly open: readonly Project[];
  projectName(id: string): string;
  /** Undefined: a key, or somebody who has left. */
  personName(id: string): string | undefined;
}

export interface PolicyData extends Known {
  readonly name: string;
  /** The newest first. */
  readonly versions: readonly Version[];
  /** The versions are asked for again. */
  readonly isBusy: boolean;
  readonly refresh: () => void;
}

export function useKnown(): Known {
  const projects =
    useAnswer("listProjects", mayCall("listProjects") ? {} : undefined).value.value?.data ?? [];
  const id = org.value?.id;
  const mayAsk = mayCall("listMembers") && id !== undefined;
  const members = useAnswer("listMembers", mayAsk ? { params: { org: id } } : undefined).value.value?.data;
  return {
    projects,
    open: projects.filter(({ status }) => status === "active"),
    projectName: (wanted) => projects.find((each) => each.id === wanted)?.name ?? wanted,
    personName: (wanted) => {
      const found = members?.find(({ user_id: each }) => each === wanted);
      return found === undefined ? undefined : (found.name ?? found.email);
    },
  };
}

/** @returns `data` once the versions were answered */
export function usePolicy(name: string): {
  readonly data: PolicyData | undefined;
  readonly fault: ApiError | undefined;
  readonly refresh: () => void;
} {
  const { value, fault, isBusy, refresh } = useAnswer("listPolicyVersions", { params: { name } });
  const known = useKnown();
  const versions = value.value?.data;
  const data = versions && { ...known, name, versions, isBusy: isBusy.value, refresh };
  return { data, fault: fault.value, refresh };
}

/** The page and what follows it of a policy. A policy may be called "new": the first address is that of a new one. */
export const policyPath = (name: string): readonly string[] =>
  name === "new" ? ["policies", name, "versions"] : ["policies", name];
