/** The frame of every page: the org, the pages that the person's role opens, the theme, and the way out. */
import { computed } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/field.tsx";
import { Link } from "../parts/link.tsx";
import { FaultNote, Waiting } from "../parts/note.tsx";
import { Page } from "../parts/panel.tsx";
import { NoOrg } from "./no-org.tsx";
import { type ConsolePage, PAGES } from "./pages.ts";
import { openPalette, Palette } from "./palette.tsx";
import { go, pageAddress, query, segments } from "./router.ts";
import { chooseOrg, listedOrg, mayCall, me, org, orgSlug, sessionFault, signOut } from "./session.ts";
import { chooseTheme, type Theme, theme } from "./theme.ts";

/** Pages that the person's role opens in this org. */
export const openPages = computed<readonly ConsolePage[]>(() =>
  org.value === undefined ? [] : PAGES.filter(({ needs }) => needs.every(mayCall)),
);

const listedPages = computed(() => openPages.value.filter(({ isHidden }) => isHidden !== true));

const pageName = computed(() => segments.value[1] ?? "");

export function Shell() {
  const wanted = segments.value[0];
  useEffect(() => {
    if (me.value !== undefined) chooseOrg(wanted);
  }, [wanted]);
  if (sessionFault.value !== undefined) {
    return (
      <Page title="Weir">
        <FaultNote fault={sessionFault.value} onRetry={() => location.reload()} />
      </Page>
    );
  }
  if (me.value === undefined) return <Waiting />;
  if (org.value === undefined) return <NoOrg />;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        To the content
      </a>
      <Navigation />
      <CurrentPage />
      <Palette />
    </div>
  );
}

function Navigation() {
  const home = openPages.value[0];
  return (
    <nav class="shell-nav" aria-label="Pages">
      <Link class="shell-name" to={home === undefined ? [] : [home.path]}>
        Weir
      </Link>
      <OrgChoice />
      <ul>
        {listedPages.value.map(({ path, title }) => (
          <li key={path}>
            <Link to={[path]} current={path === pageName.value}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
      <div class="shell-foot">
        <Button kind="quiet" onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
          Find <kbd>⌘K</kbd>
        </Button>
        <a class="small" href="/docs">
          API reference
        </a>
        <Choice
          label="Theme"
          value={theme.value}
          onValue={(value) => chooseTheme(value as Theme)}
          options={[
            ["system", "As the system"],
            ["light", "Light"],
            ["dark", "Dark"],
          ]}
        />
        <span class="small quiet break">{me.value?.user.email}</span>
        <Button kind="quiet" onClick={() => void signOut()}>
          Sign out
        </Button>
      </div>
    </nav>
  );
}

function OrgChoice() {
  const orgs = me.value?.orgs ?? [];
  if (orgs.length < 2) return <span class="small quiet break">{listedOrg.value?.name}</span>;
  return (
    <Choice
      label="Organisation"
      value={orgSlug.value}
      onValue={(slug) => go(pageAddress(slug, []))}
      options={orgs.map(({ slug, name }) => [slug, name] as const)}
    />
  );
}

/** What has been loaded stays. */
const loaded = new Map<string, ComponentType>();

function CurrentPage() {
  const name = pageName.value;
  const slug = orgSlug.value;
  const page = openPages.value.find(({ path }) => path === name);
  const [, drawAgain] = useState(0);
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const isFirst = query.value.has("welcome");
    const home = openPages.value.find(({ path }) => path === "welcome" || !isFirst);
    if (name === "" && home !== undefined) go(pageAddress(slug, [home.path]), "replace");
  }, [name, slug]);
  useEffect(() => {
    if (page === undefined || loaded.has(page.path)) return;
    setLost(false);
    page.load().then(
      (component) => {
        loaded.set(page.path, component);
        drawAgain((count) => count + 1);
      },
      () => setLost(true),
    );
  }, [page]);
  if (name === "") return <Waiting />;
  if (page === undefined) return <Missing />;
  if (isLost) return <Outdated title={page.title} />;
  const Component = loaded.get(page.path);
  if (Component === undefined) {
    return (
      <Page title={page.title}>
        <Waiting />
      </Page>
    );
  }
  // A page of another org is another page: nothing that was read of the first is shown.
  return <Component key={`${slug} ${page.path}`} />;
}

function Missing() {
  const isKnown = PAGES.some(({ path }) => path === pageName.value);
  return (
    <Page title={isKnown ? "Not open to your role" : "There is no such page"}>
      <p>
        {isKnown
          ? `You are ${listedOrg.value?.role} in ${listedOrg.value?.name}, which does not open this page. An admin can change your role.`
          : "The address may be mistyped, or of a later release."}
      </p>
      <Links />
    </Page>
  );
}

const Links = () => (
  <p class="row">
    {listedPages.value.map(({ path, title }) => (
      <Link key={path} to={[path]}>
        {title}
      </Link>
    ))}
  </p>
);

/** The gateway was restarted with another release, whose files have other names. */
const Outdated = ({ title }: { readonly title: string }) => (
  <Page title={title}>
    <p>This page could not be loaded: the gateway may have been renewed meanwhile.</p>
    <div class="row">
      <Button kind="main" onClick={() => location.reload()}>
        Load again
      </Button>
    </div>
  </Page>
);
