import { Controller, Get, Injectable, Module, type Type } from '@nestjs/common';
import { InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, PrimaryColumn, Repository } from 'typeorm';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { configOf, createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { dataOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { failureOfStart } from '../../../support/failure-of-start.js';

type Database = Awaited<ReturnType<typeof createDatabase>>;

/** The start fails before it connects. */
const UNREACHABLE = {
  type: 'postgres',
  url: 'postgres://127.0.0.1:1/none',
  retryAttempts: 0,
} as const;

@Injectable()
class Stock {
  constructor(@InjectDataSource() readonly dataSource: DataSource) {}
}

@Module({ imports: [TypeOrmModule.forRoot(UNREACHABLE)], providers: [Stock] })
class StockModule {}

@Module({ imports: [TypeOrmModule.forRootAsync({ useFactory: () => UNREACHABLE })] })
class LateStockModule {}

@Module({ imports: [TypeOrmModule.forRoot({ ...UNREACHABLE, name: 'default' })] })
class NamedStockModule {}

@Module({ imports: [StockModule] })
class ShopModule {}

describe('a data source of a team', () => {
  let database: Database;
  let stock: Database;

  beforeAll(async () => {
    [database, stock] = await Promise.all([createDatabase(), createDatabase()]);
  });
  afterAll(async () => {
    await Promise.all([dropDatabase(database), dropDatabase(stock)]);
  });

  it.each<[string, string, Type<unknown>]>([
    ['forRoot()', 'StockModule', StockModule],
    ['forRoot() of an imported module', 'StockModule', ShopModule],
    ['forRootAsync()', 'LateStockModule', LateStockModule],
    ['forRoot() with the name "default"', 'NamedStockModule', NamedStockModule],
  ])('ends startup if its name is that of Latitude: %s', async (_, name, module) => {
    expect(await failureOfStart(module, database)).toEqual([
      `${name} imports TypeOrmModule with the data source "default", which is that of Latitude. Give it another name, such as TypeOrmModule.forRoot({ name: 'reports', ... }), and use @InjectDataSource('reports').`,
    ]);
  });

  it('works with a name of its own, with repositories and with the data source of Latitude', async () => {
    const app = await TestApp.start({ modules: [itemsModule(stock)], database });
    const { api } = await app.organization();
    const { databases, items } = dataOf<{ databases: string[]; items: object[] }>(
      await api.get('/api/v1/items'),
    );
    expect(new Set(databases).size).toBe(2);
    expect(items).toEqual([{ code: 'A1', amount: 3 }]);
    await app.stop();
  });
});

/** A module with a table in a database of its own. */
function itemsModule(target: Database): Type<unknown> {
  const { host, port, database, user: username } = configOf(target);

  @Entity({ name: 'items' })
  class Item {
    @PrimaryColumn('text')
    code: string;

    @Column('integer')
    amount: number;
  }

  @Controller('api/v1/items')
  class ItemsController {
    constructor(
      @InjectRepository(Item, 'stock') private readonly items: Repository<Item>,
      @InjectDataSource('stock') private readonly stock: DataSource,
      @InjectDataSource() private readonly latitude: DataSource,
    ) {}

    @Get()
    @AnyKey()
    async list() {
      await this.items.save({ code: 'A1', amount: 3 });
      const databases = await Promise.all(
        [this.stock, this.latitude].map(async (dataSource) => {
          const [row] = await dataSource.query<{ name: string }[]>(
            'select current_database() as name',
          );
          return row!.name;
        }),
      );
      return { databases, items: await this.items.find() };
    }
  }

  @Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        name: 'stock',
        ...{ host, port, database, username },
        autoLoadEntities: true,
        synchronize: true,
      }),
      TypeOrmModule.forFeature([Item], 'stock'),
    ],
    controllers: [ItemsController],
  })
  class ItemsModule {}
  return ItemsModule;
}
