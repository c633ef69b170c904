/**
 * An error as a page, for people who open an address in a browser: what is wrong, what to do, and the id by which the request is found in
 * logs. The message may have parts of the address and of what tenants wrote: all of it is text.
 */
import type { WeirError } from "../../base/errors.ts";
import { type Html, html, pageText } from "../../base/html.ts";

interface Advice {
  readonly title: string;
  readonly whatToDo: string;
}

/** By code, where the status does not say enough. */
const BY_CODE: Readonly<Record<string, Advice>> = {
  session_expired: {
    title: "Your session has ended",
    whatToDo: "Sign in again: that leads back to this address.",
  },
  two_factor_required: {
    title: "A second factor is asked for",
    whatToDo: "Sign in again with a second factor.",
  },
  ip_not_allowed: {
    title: "Not open from your network",
    whatToDo: "Ask an owner of the organisation from which networks it is open.",
  },
  identity_unavailable: {
    title: "Signing in does not work now",
    whatToDo:
      "The service that knows who you are does not answer. Try again in a moment, or tell whoever runs this gateway.",
  },
  analytics_unavailable: {
    title: "Figures are not available now",
    whatToDo: "Model calls go on. Try again in a moment.",
  },
};

const BY_STATUS: Readonly<Record<number, Advice>> = {
  400: {
    title: "This address is not right",
    whatToDo:
      "Something in it has a wrong value, or it was opened a second time. Begin again at the page that led here.",
  },
  401: {
    title: "Sign in first",
    whatToDo: "Sign in to open this address in a browser. Programs send a key, as the API reference says.",
  },
  402: {
    title: "There is no credit for this",
    whatToDo: "Add credit, or raise the budget, in the console.",
  },
  403: {
    title: "Not open to you",
    whatToDo:
      "Your role or your organisation does not open it. Somebody with the role admin can change that.",
  },
  404: {
    title: "There is no such page",
    whatToDo:
      "Look for a typing error in the address. What was here may also be deleted, or belong to another organisation.",
  },
  405: {
    title: "This address is for programs",
    whatToDo: "A browser cannot open it. The API reference says how it is called.",
  },
  429: {
    title: "Too many requests",
    whatToDo: "Wait a moment, and load this page again.",
  },
  500: {
    title: "Something failed here",
    whatToDo:
      "The fault is the gateway's. Try again; if it stays, give the request id to whoever runs this gateway.",
  },
};

const AWAY: Advice = {
  title: "Not available now",
  whatToDo: "Try again in a moment.",
};
const OTHER: Advice = {
  title: "This did not work",
  whatToDo: "Go back to the page that led here, and try again.",
};

const adviceOn = ({ status, code }: WeirError): Advice =>
  BY_CODE[code] ?? BY_STATUS[status] ?? (status >= 500 ? AWAY : OTHER);

/** Whether signing in is what helps. */
const isForSignIn = ({ status, code }: WeirError): boolean =>
  status === 401 || code === "two_factor_required";

/** The page. @param id of the request @param address path and query that were opened: a sign-in leads back to them */
export function errorPage(error: WeirError, id: string, address: string): string {
  const { title, whatToDo } = adviceOn(error);
  const { status, code, message } = error;
  const signInQuery = new URLSearchParams({ return_to: address }).toString();
  return pageText({
    title: `${title} · Weir`,
    body: html`<main><h1>${title}</h1>
<p>${message}</p>
<p>${whatToDo}${waitOf(error)}</p>
${isForSignIn(error) ? html`<p><a class="main" href="/auth/login?${signInQuery}">Sign in</a></p>` : undefined}
<p class="quiet">Status ${String(status)}, <code>${code}</code>. Request <code>${id}</code></p></main>`,
  });
}

function waitOf({ retryAfterMs }: WeirError): Html | undefined {
  if (retryAfterMs === undefined) return undefined;
  const seconds = Math.ceil(retryAfterMs / 1000);
  return html` It may work in ${String(seconds)} ${seconds === 1 ? "second" : "seconds"}.`;
}
