// The shapes that the modules hand to each other. For tsc only; browsers never load this.

interface Option {
  code: number;
  text: string;
}

/** "Ask only if …": one of all, any and not, or a condition on one answer. */
interface Rule {
  all?: Rule[];
  any?: Rule[];
  not?: Rule;
  name: string;
  is: number[];
}

/** How a symbol is scrambled; with a range it is a number that is rounded to a bit first. */
interface Channel {
  k: number;
  threshold: number;
  minimum?: number;
  maximum?: number;
}

interface Question {
  name: string;
  type: string;
  text: string;
  k?: number;
  threshold?: number;
  options?: Option[];
  refusal?: true;
  rule?: Rule;
  minimum?: number;
  maximum?: number;
  unit?: string;
  low_label?: string;
  high_label?: string;
  limit?: number;
  gate_threshold?: number;
  follow_up?: string;
  /** What checkManifest finds: a channel for each symbol, null for one that is sent as it is. */
  channels: (Channel | null)[];
  /** Of the questions that are drawn together; -1 for what everybody is asked. */
  block: number;
  /** Whether this person is asked its block. */
  isDrawn: boolean;
  /** Its place in the whole survey; 0 for a text. */
  number: number;
  /** Of the second part of a follow-up: the name of the question. */
  follows?: string;
}

interface Manifest {
  format: number;
  title: string;
  language: string;
  minimum_batch: number;
  display_minimum: number;
  questions: Question[];
  /** How many blocks each person is asked; all where it is missing. */
  drawn?: number;
  /** What checkManifest finds: how many there are. */
  blocks: number;
}

/** A code; a number; the codes of what is selected; null for "prefer not to say". */
type Answer = number | null | number[];
type Answers = Record<string, Answer>;

/** By the names that rules use. */
type Codes = Record<string, number | undefined>;

/** The truth behind a symbol: a code, a number to be rounded, or null if it was not drawn. */
type Latent = number | null | { value: number; missing?: number };

/** Draws an integer from 0 to 2^32 - 1, all equally likely. */
type Random = () => number;

interface Choice {
  text: string;
  value: number | null;
  /** Whether these are the author's words. */
  isOwn?: boolean;
}

/** A randomized report, drawn once; its bytes on the wire follow from it. */
interface Envelope {
  manifest: string;
  id: string;
  symbols: string;
}

/** What is left of an envelope that will not be sent again. */
interface Mark {
  over: "sent" | "closed" | "refused";
}

type Kept = Envelope | Mark;

/** Keeps the envelope, or what is left of it, and beside it the blocks that were drawn. */
interface Keeper {
  /** Whether a code would outlive this page. */
  isLasting: () => boolean;
  /** Whether leaving this page now would lose a code that is not sent yet. */
  isAtRisk: () => boolean;
  read: { (): Promise<Kept | undefined>; (part: " blocks"): Promise<number[]> };
  /** Draws and keeps unless something is kept already; tells whether it did. */
  seal: { (draw: () => Envelope): Promise<boolean>; (draw: () => number[], part: " blocks"): Promise<boolean> };
  write: (value: Kept) => Promise<void>;
}

/** sent: committed. closed, refused: never. unfit: not as things are. Otherwise: try again. */
type Outcome = "sent" | "closed" | "refused" | "unfit" | "early" | "later";

interface Reply {
  outcome: Outcome;
  /** How long the server asks to wait; 0 where it says nothing. */
  seconds: number;
}

/** Shows sentences of the page, by their names. */
type Tell = (name: string, stay?: string, again?: () => void) => void;

/** What the check before sending shows, and what can be done there. */
interface Check {
  pages: Question[];
  answers: Answers;
  own: object;
  back: () => void;
  change: (name: string) => void;
  submit: () => void;
}

/** What one question's step shows, and what can be done there. */
interface Step {
  page: Question;
  /** Attributes of the author's words. */
  own: object;
  /** "Question 3 of 9", or nothing. */
  progress: string;
  /** The answer given before, when coming back. */
  answer: Answer | undefined;
  back: () => void;
  proceed: (answer: Answer) => void;
}

interface Visit {
  keeper: Keeper;
  intake: string;
  tell: Tell;
  /** The code is of another tab, not of what was chosen in this one. */
  other?: boolean;
}
