import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: '../../docs/schema.graphql',
  documents: ['../go/operations.graphql', 'subscriptions.graphql'],
  generates: { 'src/generated.ts': { plugins: ['typescript-operations', 'typed-document-node'] } },
  config: {
    documentMode: 'string',
    strictScalars: true,
    scalars: { BigInt: { input: 'string | number', output: 'string' }, DateTime: 'string', UsageMap: 'Record<string, unknown>' },
    skipTypename: true,
    enumsAsTypes: true,
    useTypeImports: true,
  },
};
export default config;
