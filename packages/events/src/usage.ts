/**
 * Tokens of one turn or thread. `input_tokens` includes the two other input numbers. Old lines lack some of
 * them; absent and null mean 0.
 */
export interface Usage {
  input_tokens?: number | null;
  cached_input_tokens?: number | null;
  cache_creation_tokens?: number | null;
  output_tokens?: number | null;
}

/** Where the tokens of a prompt came from. */
export interface TokenBreakdown {
  system_prompt_tokens: number;
  tool_schema_tokens: number;
  instruction_file_tokens: number;
  message_history_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cache_miss_tokens: number;
  subagent_bootstrap_tokens?: number | null;
}
