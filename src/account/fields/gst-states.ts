/**
 * State codes of the Indian goods and services tax: the first two digits of a GSTIN, and the place of supply of an invoice.
 * Source: the GST portal's list of state codes, after the codes of the census. Left out, because no registration has them
 * today: 25 (Daman and Diu, part of 26 since 2020), 28 (Andhra Pradesh before its division), 99 (centre jurisdiction).
 */

/** The place of supply of what is supplied abroad. */
export const ABROAD = "96";

export const GST_STATES: Readonly<Record<string, string>> = {
  "01": "Jammu and Kashmir",
  "02": "Himachal Pradesh",
  "03": "Punjab",
  "04": "Chandigarh",
  "05": "Uttarakhand",
  "06": "Haryana",
  "07": "Delhi",
  "08": "Rajasthan",
  "09": "Uttar Pradesh",
  "10": "Bihar",
  "11": "Sikkim",
  "12": "Arunachal Pradesh",
  "13": "Nagaland",
  "14": "Manipur",
  "15": "Mizoram",
  "16": "Tripura",
  "17": "Meghalaya",
  "18": "Assam",
  "19": "West Bengal",
  "20": "Jharkhand",
  "21": "Odisha",
  "22": "Chhattisgarh",
  "23": "Madhya Pradesh",
  "24": "Gujarat",
  "26": "Dadra and Nagar Haveli and Daman and Diu",
  "27": "Maharashtra",
  "29": "Karnataka",
  "30": "Goa",
  "31": "Lakshadweep",
  "32": "Kerala",
  "33": "Tamil Nadu",
  "34": "Puducherry",
  "35": "Andaman and Nicobar Islands",
  "36": "Telangana",
  "37": "Andhra Pradesh",
  "38": "Ladakh",
  [ABROAD]: "Other country",
  "97": "Other territory",
};

/** Whether the code is of a place in India: a State, a union territory, or other territory. */
export const isIndianState = (code: string): boolean => code !== ABROAD && Object.hasOwn(GST_STATES, code);

/** Name and code, as people recognise them: `Karnataka (29)`. */
export const stateLabel = (code: string): string => `${GST_STATES[code] ?? "unknown"} (${code})`;

/** `Karnataka`. */
export const stateName = (code: string): string => GST_STATES[code] ?? "unknown";
