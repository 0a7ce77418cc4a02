/**
 * The listed values of an enum, and any other text: an unknown value is kept as it is and never an error.
 * The list itself is what the rules check against, so that type and check cannot drift apart.
 */
export type OpenEnum<Values extends readonly string[]> = Values[number] | (string & Record<never, never>);
