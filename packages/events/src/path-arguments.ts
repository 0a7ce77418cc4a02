/** Arguments of tools that name files, one or a list of them. */
export const pathArguments = ['path', 'file', 'file_path', 'filename', 'paths'] as const;
