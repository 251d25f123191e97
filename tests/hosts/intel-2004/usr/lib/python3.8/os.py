# fixture
