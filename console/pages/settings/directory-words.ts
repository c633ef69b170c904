/** What a directory asked for and what it got, in words. Pure. */

const ACTS: Readonly<Record<string, string>> = {
  GET: "Read",
  POST: "Add",
  PUT: "Replace",
  PATCH: "Change",
  DELETE: "Remove",
};

const THINGS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  Users: ["a user", "users"],
  Groups: ["a group", "groups"],
};

/** `Add a user`, `Look for users`. @param path with its filter, as the log has it */
export function callWords(method: string, path: string): string {
  const [place = "", filter = ""] = path.split("?");
  const [kind = "", id = ""] = place.replace(/^.*\/scim\/v2\//, "").split("/");
  const thing = THINGS[kind];
  const act = ACTS[method] ?? method;
  if (thing === undefined) return method === "GET" ? "Read what the gateway supports" : `${act} ${kind}`;
  if (method === "GET" && id === "")
    return filter.includes("filter=") ? `Look for ${thing[1]}` : `List ${thing[1]}`;
  return `${act} ${thing[0]}`;
}

/** `done`, `refused, 409`. */
export const statusWords = (status: number): string => {
  if (status < 400) return "done";
  return status < 500 ? `refused, ${status}` : `failed, ${status}`;
};
