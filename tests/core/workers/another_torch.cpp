// Stands in for another LibTorch in TorchLibraryTest: what the real one says of how it was built, said before it is asked.
#include <map>
#include <string>

namespace caffe2 {

const std::map<std::string, std::string>& GetBuildOptions();

const std::map<std::string, std::string>& GetBuildOptions() {
    static const std::map<std::string, std::string> options{{"TORCH_VERSION", "2.10.0"}, {"COMMIT_SHA", "0123456789abcdef"}};
    return options;
}

}  // namespace caffe2
