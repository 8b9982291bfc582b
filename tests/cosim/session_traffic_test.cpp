// A session looks at what goes over the port: it fails where less is needed than the unit reads.
#include <gtest/gtest.h>

#include <memory>

#include "santa/cosim/generator.hpp"
#include "santa/cosim/runner.hpp"
#include "santa/cosim/session.hpp"

namespace santa::cosim {
namespace {

std::string failure_with(std::size_t features_left_out) {
  const BuiltModel& built = built_models().front();
  Scenario scenario;
  scenario.seed = "traffic";
  ScenarioRequest request;
  request.request = gaussian_request({40, 8, 1}, {}, built.parameters.tile_keys, 1);
  auto expected = std::make_shared<Expectation>(expect(request.request));
  std::vector<std::uint32_t>& needed = expected->result.query.needed_features;
  needed.resize(needed.size() - features_left_out);  // of no monitor, only of the port
  request.expected = expected;
  scenario.requests.push_back(request);
  const std::unique_ptr<RtlModel> model = built.make({});
  Coverage coverage(built.parameters);
  const SessionResult result = Session(*model, scenario, "", coverage).run();
  return result.failure ? result.failure->text : "";
}

TEST(SessionTraffic, AFeatureReadWithoutNeedIsFound) {
  EXPECT_EQ(failure_with(0), "");
  EXPECT_NE(failure_with(1).find("words of keys read: RTL "), std::string::npos);
}

}  // namespace
}  // namespace santa::cosim
