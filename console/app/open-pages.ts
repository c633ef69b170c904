/** The pages that the person may open where they are: in an org by their role, or about the installation as an operator. */
import { computed } from "@preact/signals";
import { type ConsolePage, OPERATOR_PAGES, PAGES } from "./pages.ts";
import { tellOpenPaths } from "./places.ts";
import { isOperator, isOperatorPlace, mayCall, org } from "./session.ts";

export const placePages = computed(() => (isOperatorPlace.value ? OPERATOR_PAGES : PAGES));

/** Whether the person may open anything here. */
export const isOpen = computed(() => (isOperatorPlace.value ? isOperator.value : org.value !== undefined));

export const openPages = computed<readonly ConsolePage[]>(() =>
  isOpen.value ? placePages.value.filter(({ needs }) => needs.every(mayCall)) : [],
);

tellOpenPaths(() => openPages.value.map(({ path }) => path));

/** Those that the navigation has. */
export const listedPages = computed(() => openPages.value.filter(({ isHidden }) => isHidden !== true));
