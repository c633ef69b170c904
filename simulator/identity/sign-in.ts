/**
 * The sign-in page: shows the people, takes the answer, and hands the chosen person to `oidc-provider`. An answer counts
 * only with the cookie of the sign-in that its address names.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { errors, type Interaction, type Provider } from "oidc-provider";
import { ACR, interactionPath } from "./openid-provider.ts";
import { emptyForm, errorPage, type FormValues, signInPage } from "./pages.ts";
import {
  EMAIL_MAX_LENGTH,
  MAX_PEOPLE,
  NAME_MAX_LENGTH,
  type People,
  type Person,
  personFields,
} from "./people.ts";
import { sendPage } from "./request.ts";

export interface SignInDeps {
  readonly provider: Provider;
  readonly people: People;
}

/** Serves `GET` and `POST` of `/interaction/{uid}`. @throws only what nobody expects */
export async function serveSignIn(
  deps: SignInDeps,
  uid: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { provider, people } = deps;
  const interaction = await interactionOf(provider, uid, request, response);
  if (interaction === undefined) {
    return sendPage(
      response,
      400,
      errorPage(
        "This sign-in is over, or was begun elsewhere. Go back to the application and sign in again.",
      ),
    );
  }
  const show = (status: number, form: FormValues, problem?: string) => {
    const preselected = hinted(people, interaction);
    const page = { action: interactionPath(uid), people: people.all(), preselected, form };
    sendPage(response, status, signInPage(problem === undefined ? page : { ...page, problem }));
  };
  if (request.method === "GET") return show(200, emptyForm(people.all(), unknownHint(people, interaction)));
  const answer = await answerOf(people, new URLSearchParams(await text(request)));
  if ("problem" in answer) return show(answer.status, answer.form, answer.problem);
  const { sub: accountId, secondFactor } = answer.person;
  const login = secondFactor
    ? { accountId, amr: ["pwd", "otp"], acr: ACR.twoFactors }
    : { accountId, amr: ["pwd"], acr: ACR.oneFactor };
  await provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}

/** The sign-in under way that cookie and address both name; undefined where there is none. */
async function interactionOf(
  provider: Provider,
  uid: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Interaction | undefined> {
  try {
    const interaction = await provider.interactionDetails(request, response);
    return interaction.uid === uid ? interaction : undefined;
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

const hintOf = ({ params }: Interaction): string => {
  const { login_hint: hint } = params;
  return typeof hint === "string" && hint.length <= EMAIL_MAX_LENGTH ? hint : "";
};

const hinted = (people: People, interaction: Interaction): Person | undefined =>
  people.byEmail(hintOf(interaction));

const unknownHint = (people: People, interaction: Interaction): string =>
  hinted(people, interaction) === undefined ? hintOf(interaction) : "";

type Answer =
  | { readonly person: Person }
  | { readonly problem: string; readonly status: number; readonly form: FormValues };

/** A person chosen from the list, or one to be added to it. */
async function answerOf(people: People, form: URLSearchParams): Promise<Answer> {
  const sub = form.get("sub");
  if (sub !== null) {
    const person = people.bySub(sub);
    if (person !== undefined) return { person };
    const problem = "This person is no longer in the list.";
    return { problem, status: 400, form: emptyForm(people.all()) };
  }
  const secondFactor = form.has("second_factor");
  const typed = { email: form.get("email") ?? "", name: form.get("name") ?? "", secondFactor };
  const fields = personFields.safeParse(typed);
  if (fields.success) {
    const person = await people.put(fields.data);
    if (person !== undefined) return { person };
    const problem = `The list is full: it has ${MAX_PEOPLE} people.`;
    return { problem, status: 409, form: typed };
  }
  // A value far beyond its limit is not shown again in the form.
  const email = typed.email.slice(0, EMAIL_MAX_LENGTH);
  const name = typed.name.slice(0, NAME_MAX_LENGTH);
  const problem = fields.error.issues.map(({ message }) => message).join(" ");
  return { problem, status: 400, form: { email, name, secondFactor } };
}
