import { Inject, Module } from '@nestjs/common';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { importsOf, injectedTokensOf } from './nest-injection-internals.js';

class Base {
  @Inject('inherited') readonly inherited: string;
}

class Reports extends Base {
  @Inject('property') readonly property: string;

  constructor(@Inject('parameter') readonly parameter: string) {
    super();
  }
}

const tokensOf = (wrapper: Pick<InstanceWrapper, 'inject' | 'metatype'>) =>
  injectedTokensOf(wrapper as InstanceWrapper);

describe('the metadata of @Inject() that the check of repositories relies on', () => {
  it('has the tokens of parameters and of own and inherited properties', () => {
    const tokens = tokensOf({ inject: undefined, metatype: Reports });
    expect(tokens.sort()).toEqual(['inherited', 'parameter', 'property']);
  });

  it('has the tokens of a factory, optional ones included', () => {
    const inject = ['required', { token: 'optional', optional: true }];
    expect(tokensOf({ inject, metatype: () => 1 })).toEqual(['required', 'optional']);
  });

  it('has no tokens for a value', () => {
    expect(tokensOf({ inject: undefined, metatype: null })).toEqual([]);
  });
});

describe('the metadata of @Module() that the check of overrides relies on', () => {
  it('has the imported modules', () => {
    class Imported {}
    @Module({ imports: [Imported] })
    class Importing {}
    expect([importsOf(Importing), importsOf(Imported)]).toEqual([[Imported], []]);
  });
});
